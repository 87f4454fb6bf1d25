/** The schedule in a word; null for a DAG that runs by hand only, of which the API says Airflow's "None". */
export const scheduleOf = ({ timetable_summary }: { readonly timetable_summary: string | null }): string | null =>
  timetable_summary === "None" ? null : timetable_summary;
