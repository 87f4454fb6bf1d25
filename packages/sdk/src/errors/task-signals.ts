/**
 * Throw it in a handler to end the task as `skipped`: not a failure, no retry. Tasks downstream are judged by their
 * trigger rules. Airflow's `AirflowSkipException`.
 */
export class SkipTask extends Error {
  override readonly name: string = "SkipTask";

  constructor(message = "the handler asked to be skipped", options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * Throw it in a handler to fail the task at once, without using the retries that are left. Airflow's
 * `AirflowFailException`.
 */
export class FailTask extends Error {
  override readonly name: string = "FailTask";

  constructor(message = "the handler failed the task for good", options?: ErrorOptions) {
    super(message, options);
  }
}

export {
  /** The name that Airflow gives to {@link SkipTask}. */
  SkipTask as AirflowSkipException,
  /** The name that Airflow gives to {@link FailTask}. */
  FailTask as AirflowFailException,
};
