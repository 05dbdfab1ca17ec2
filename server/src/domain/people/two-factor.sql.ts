import type { Db } from '../../db/db.ts'

export const setTotp = (db: Db, personId: string, sealed: string | null, confirmedAt: Date | null): Promise<number> =>
  db.change('update people set totp_sealed = $2, totp_confirmed_at = $3, totp_last_step = null where id = $1', [
    personId,
    sealed,
    confirmedAt,
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

export const useBackupCode = async (db: Db, personId: string, digest: Buffer): Promise<boolean> =>
  (await db.change('delete from backup_codes where person_id = $1 and digest = $2', [personId, digest])) === 1

export const countBackupCodes = async (db: Db, personId: string): Promise<number> =>
  (await db.first<{ count: number }>('select count(*) from backup_codes where person_id = $1', [personId]))?.count ?? 0
