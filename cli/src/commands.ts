import type { Command } from './command.ts'
import { appCommands } from './commands/app.ts'
import { connectionCommands } from './commands/connection.ts'
import { deliveryCommands } from './commands/delivery.ts'
import { doctorCommand } from './commands/doctor.ts'
import { keyCommands } from './commands/key.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { phoneCommands } from './commands/phone.ts'
import { priceCommands } from './commands/price.ts'
import { startCommand } from './commands/start.ts'
import { userCommands } from './commands/user.ts'
import { webhookCommands } from './commands/webhook.ts'
import { workspaceCommands } from './commands/workspace.ts'

/** Every command there is, in the order the help shows them. */
export const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  doctorCommand,
  ...workspaceCommands,
  ...priceCommands,
  ...userCommands,
  ...keyCommands,
  ...webhookCommands,
  ...deliveryCommands,
  listenCommand,
  ...appCommands,
  ...connectionCommands,
  ...phoneCommands,
]
