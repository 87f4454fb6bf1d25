/** The trigger with which a sensor pokes in a triggerer. Handled by the artifact itself, for no file can define it. */
export const SENSOR_POKE = "sensor.poke";
