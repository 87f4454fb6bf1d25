// Gives Airflow's name of its TypeScript SDK the types of this one: DAG files that import it run here unchanged. Asked for
// in a tsconfig.json: "types": ["@millrace/sdk/airflow"].
declare module "apache-airflow-ts-sdk" {
  export * from "@millrace/sdk";
}
declare module "apache-airflow-ts-sdk/hitl" {
  export { approval, ApprovalRejected, hitl, HitlTimeout, type HITLResult } from "@millrace/sdk";
}
