import { workspaceOption } from './workspace-option.ts'

/** The options that `events` and `logs` share. */
export const followOptions = (noun: 'events' | 'requests', happen: string) => ({
  workspace: workspaceOption(`Workspace whose ${noun} it shows`),
  follow: { help: `Print new ${noun} as they ${happen}` },
})
