import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import { type Call, type OptionRule, UsageError } from './command.ts'

/** `--workspace` of a command that needs a workspace. */
export const workspaceOption = (help: string): OptionRule => ({
  value: 'ID',
  idOf: 'workspace',
  help: `${help}, by ID or name (default: the only workspace)`,
})

/** `--workspace` of a command that lists something. */
export const workspaceFilter: OptionRule = {
  value: 'ID',
  idOf: 'workspace',
  help: 'Only those of this workspace, by ID or name',
}

/** The workspace that `--workspace` names. It may be left out while there is only one. */
export async function readWorkspace(call: Call): Promise<Workspace> {
  const named = await readWorkspaceFilter(call)
  if (named) return named
  const [first, ...others] = await allWorkspaces(call)
  if (!first) throw new StartupError('No workspaces yet. Create one with: ./parley workspace create --name NAME')
  if (others.length > 0)
    throw new UsageError(
      'Missing option: --workspace ID. It may be left out only while there is one workspace. Run "./parley workspace list" to see all workspaces.',
    )
  return first
}

/** The workspace that `--workspace` names, if it was given. */
export async function readWorkspaceFilter(call: Call): Promise<Workspace | undefined> {
  const text = call.option('workspace')
  if (text === undefined) return undefined
  const workspaces = await allWorkspaces(call)
  // A name was replaced by the ID (`short-ids.ts`).
  const found = workspaces.find(({ id }) => id === text.toLowerCase())
  if (found) return found
  throw new StartupError(
    `No workspace has the ID or name "${text}". Run "./parley workspace list" to see all workspaces.`,
  )
}

/** Loaded on demand: with an API key, a command needs no database. */
async function allWorkspaces({ db }: Call): Promise<Workspace[]> {
  const { listWorkspaces } = await import('@parley/server/domain/workspaces/workspaces')
  return listWorkspaces(await db())
}
