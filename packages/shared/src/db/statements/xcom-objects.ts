// Objects that hold large XComs, from before they are stored until after they are removed. `due_at` says when one may go;
// triggers of the table xcom clear it when an XCom takes the object and set it when the XCom goes. A claimed object is
// taken by no XCom any more, and is claimed again after ten minutes in case its remover died. Locks: the rows.
import { defineStatement } from "../statement.ts";

export const announceXComObject = defineStatement<readonly [key: string], never>({
  name: "announce-xcom-object",
  sql: `insert into xcom_object (key) values ($1)`,
});

export const claimXComObjects = defineStatement<readonly [limit: number], { readonly key: string }>({
  name: "claim-xcom-objects",
  sql: `
with due as (
  select key from xcom_object where due_at < now() order by due_at limit $1 for update skip locked
)
update xcom_object o set is_claimed = true, due_at = now() + interval '10 minutes'
from due where o.key = due.key
returning o.key`,
});

export const forgetXComObjects = defineStatement<readonly [keys: readonly string[]], never>({
  name: "forget-xcom-objects",
  sql: `delete from xcom_object where key = any ($1) and is_claimed`,
});
