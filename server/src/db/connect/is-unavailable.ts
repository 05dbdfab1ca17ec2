import { isDiskError } from '../../lib/disk.ts'

/** The database is stopped, starting, unreachable, too slow or cannot write; the failed statement did not cause it. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  return (
    isDiskError(error) ||
    /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|08...|57P0.|25P03|57014|55P03|53300)$/.test(
      String(code),
    ) ||
    /Connection terminated|Query read timeout|timeout exceeded when trying to connect|pool after calling end/.test(
      message,
    )
  )
}
