import type { Command } from './command.ts'
import { appCommands } from './commands/app.ts'
import { connectionCommands } from './commands/connection.ts'
import { keyCommands } from './commands/key.ts'
import { migrateCommand } from './commands/migrate.ts'
import { phoneCommands } from './commands/phone.ts'
import { startCommand } from './commands/start.ts'
import { workspaceCommands } from './commands/workspace.ts'

/** Every command there is, in the order the help shows them. */
export const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  ...workspaceCommands,
  ...keyCommands,
  ...appCommands,
  ...connectionCommands,
  ...phoneCommands,
]
