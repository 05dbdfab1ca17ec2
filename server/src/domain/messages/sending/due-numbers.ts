import type { Topic } from '../../../db/topic.ts'

/** A number of a workspace that has messages to send. */
export interface DueNumber {
  id: string
  workspaceId: string
  connectionId: string
  throughput: string | null
}

/** Numbers for which this process has accepted messages, by their ID. Its sending loop, if it has one, takes them from here. */
export const newlyDue = 'newly due numbers' as Topic<Map<string, DueNumber>>
