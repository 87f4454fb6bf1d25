// A .csv file is imported as its text.
declare module "*.csv" {
  const text: string;
  export default text;
}
