import type { Db } from '../../../db/db.ts'
import { insertion } from '../../../db/statement.ts'

export interface PasskeyRow {
  id: string
  person_id: string
  name: string
  credential_id: string
  public_key: Buffer
  counter: number
  transports: string[]
  created_at: Date
}

const columns = 'id, person_id, name, credential_id, public_key, counter, transports, created_at'

export const insertPasskey = insertion(
  'passkeys',
  {
    id: 'uuid',
    person_id: 'uuid',
    name: 'text',
    credential_id: 'text',
    public_key: 'bytea',
    counter: 'bigint',
    transports: 'text[]',
    created_at: 'timestamptz',
  },
  'on conflict (credential_id) do nothing',
)

export const listPasskeys = (db: Db, personId: string): Promise<PasskeyRow[]> =>
  db.rows(`select ${columns} from passkeys where person_id = $1 order by created_at, id`, [personId])

export const passkeyByCredential = (db: Db, credentialId: string): Promise<PasskeyRow | undefined> =>
  db.first(`select ${columns} from passkeys where credential_id = $1`, [credentialId])

export const setCounter = (db: Db, id: string, counter: number): Promise<number> =>
  db.change('update passkeys set counter = $2 where id = $1', [id, counter])

export const deletePasskey = (db: Db, personId: string, id: string): Promise<PasskeyRow | undefined> =>
  db.first(`delete from passkeys where person_id = $1 and id = $2 returning ${columns}`, [personId, id])

export const removePasskeys = (db: Db, personId: string): Promise<number> =>
  db.change('delete from passkeys where person_id = $1', [personId])
