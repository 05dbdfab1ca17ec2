import type { Db } from '../../../db/db.ts'

/** Sets a secret that is not confirmed yet. Never replaces a confirmed one. */
export const setPendingTotp = (db: Db, personId: string, sealed: string): Promise<number> =>
  db.change('update people set totp_sealed = $2, totp_last_step = null where id = $1 and totp_confirmed_at is null', [
    personId,
    sealed,
  ])

/** Does nothing if the secret was replaced in the meantime. */
export const confirmTotp = (db: Db, personId: string, sealed: string, at: Date, step: number): Promise<number> =>
  db.change(
    `update people set totp_confirmed_at = $3, totp_last_step = $4
     where id = $1 and totp_sealed = $2 and totp_confirmed_at is null`,
    [personId, sealed, at, step],
  )

export const dropTotp = (db: Db, personId: string): Promise<number> =>
  db.change('update people set totp_sealed = null, totp_confirmed_at = null, totp_last_step = null where id = $1', [
    personId,
  ])

export const useStep = (db: Db, personId: string, step: number): Promise<number> =>
  db.change('update people set totp_last_step = $2 where id = $1 and (totp_last_step is null or totp_last_step < $2)', [
    personId,
    step,
  ])

export const replaceBackupCodes = async (db: Db, personId: string, digests: readonly Buffer[]): Promise<void> => {
  await db.change('delete from backup_codes where person_id = $1', [personId])
  await db.change('insert into backup_codes (person_id, digest) select $1, unnest($2::bytea[])', [personId, digests])
}

export const deleteBackupCode = async (db: Db, personId: string, digest: Buffer): Promise<boolean> =>
  (await db.change('delete from backup_codes where person_id = $1 and digest = $2', [personId, digest])) === 1

export const backupCodesLeft = async (db: Db, personId: string): Promise<number> =>
  (await db.first<{ count: number }>('select count(*) from backup_codes where person_id = $1', [personId]))?.count ?? 0
