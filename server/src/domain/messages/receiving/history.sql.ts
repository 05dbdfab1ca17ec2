import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

export interface ChunkRow {
  senderId: string
  phase: number
  chunkOrder: number
  progress: number
  workspaceId: string
  importedAt: Date
}

const insertion = statement(
  {
    senderId: 'uuid',
    phase: 'int',
    chunkOrder: 'int',
    progress: 'int',
    workspaceId: 'uuid',
    importedAt: 'timestamptz',
  },
  ({ senderId, phase, chunkOrder, progress, workspaceId, importedAt }) => `insert into history_chunks
       (sender_id, phase, chunk_order, progress, workspace_id, imported_at)
     values (${senderId}, ${phase}, ${chunkOrder}, ${progress}, ${workspaceId}, ${importedAt}) on conflict do nothing`,
)

/** Returns false if the chunk was imported before. */
export const insertChunk = async (db: Db, chunk: ChunkRow): Promise<boolean> => (await insertion.change(db, chunk)) > 0
