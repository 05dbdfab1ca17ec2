/** Rows per statement. Deleting so many takes a fraction of a second, even if each is far from the others on the disk. */
const batchSize = 5_000

/** Repeats a deletion of at most `limit` rows until it finds fewer. Returns how many rows it deleted. */
export async function inBatches(deleteSome: (limit: number) => Promise<number>, limit = batchSize): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deleteSome(limit)
    total += deleted
    if (deleted < limit) return total
  }
}
