import type { Db } from '../../../db/db.ts'

export const choicesOf = (db: Db, personId: string): Promise<{ kind: string; wanted: boolean }[]> =>
  db.rows('select kind, wanted from mail_choices where person_id = $1', [personId])

export const upsertChoice = (db: Db, personId: string, kind: string, wanted: boolean): Promise<number> =>
  db.change(
    `insert into mail_choices (person_id, kind, wanted) values ($1, $2, $3)
     on conflict (person_id, kind) do update set wanted = excluded.wanted`,
    [personId, kind, wanted],
  )

/** The email addresses of members with one of the roles, and of operators, who want a notification. */
export const wantingAddresses = (
  db: Db,
  workspaceId: string,
  kind: string,
  { roles, byDefault, operators }: { roles: readonly string[]; byDefault: readonly string[]; operators: boolean },
): Promise<{ email: string }[]> =>
  db.rows(
    `with candidate as (
       select person_id, role = any($4::text[]) as by_default from memberships
       where workspace_id = $1 and role = any($3::text[])
       union all
       select id, true from people where $5::bool and operator
     )
     select p.email from (select person_id, bool_or(by_default) as by_default from candidate group by person_id) c
     join people p on p.id = c.person_id left join mail_choices m on m.person_id = c.person_id and m.kind = $2
     where p.disabled_at is null and coalesce(m.wanted, c.by_default) order by p.email`,
    [workspaceId, kind, roles, byDefault, operators],
  )

export const disabledAddresses = (db: Db, emails: readonly string[]): Promise<{ email: string }[]> =>
  db.rows('select email from people where email = any($1::text[]) and disabled_at is not null', [emails])
