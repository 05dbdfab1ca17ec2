import { insertion } from '../../../db/statement.ts'

/** Returns 0 if the chunk was imported before. */
export const insertChunk = insertion(
  'history_chunks',
  {
    senderId: 'uuid',
    phase: 'int',
    chunkOrder: 'int',
    progress: 'int',
    workspaceId: 'uuid',
    importedAt: 'timestamptz',
  },
  'on conflict do nothing',
)
