/** A person, by numbers or by user IDs: see `KnownPerson`. */
export interface PersonOfConversations {
  workspaceId: string
  isNumber: boolean
  numbers: readonly string[]
  userIds: readonly string[]
}

/** The condition for a row of a table with a person and a user ID. Few people have one, so no index is needed. */
export const isOfPerson = `workspace_id = $1 and ((person = any($2::text[]) and ($4 or user_id is null))
    or person = any($3::text[]) or (not $4 and user_id = any($3::text[])))`

export const personValues = ({ workspaceId, numbers, userIds, isNumber }: PersonOfConversations) => [
  workspaceId,
  numbers,
  userIds,
  isNumber,
]
