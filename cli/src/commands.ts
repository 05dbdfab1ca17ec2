import type { Command } from './command.ts'
import { appCommands } from './commands/app.ts'
import { connectionCommands } from './commands/connection.ts'
import { deliveryCommands } from './commands/delivery.ts'
import { doctorCommand } from './commands/doctor.ts'
import { filesCommands } from './commands/files.ts'
import { keyCommands } from './commands/key.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { personCommands } from './commands/person.ts'
import { phoneCommands } from './commands/phone.ts'
import { priceCommands } from './commands/price.ts'
import { replayCommands, startReplayCommand } from './commands/replay.ts'
import { secretsCommands } from './commands/secrets.ts'
import { startCommand } from './commands/start.ts'
import { userCommands } from './commands/user.ts'
import { webhookCommands } from './commands/webhook.ts'
import { workspaceCommands } from './commands/workspace.ts'

export interface Section {
  title: string
  commands: readonly Command[]
}

/** Every command, in the order of the help. */
export const sections: readonly Section[] = [
  { title: 'Service', commands: [startCommand, migrateCommand, doctorCommand, ...secretsCommands, ...filesCommands] },
  { title: 'Workspaces and prices', commands: [...workspaceCommands, ...priceCommands] },
  { title: 'Console users', commands: userCommands },
  { title: 'Personal data', commands: personCommands },
  { title: 'API keys', commands: keyCommands },
  {
    title: 'Webhooks',
    commands: [...webhookCommands, startReplayCommand, ...replayCommands, ...deliveryCommands, listenCommand],
  },
  { title: 'WhatsApp accounts', commands: [...appCommands, ...connectionCommands] },
  { title: 'Simulator', commands: phoneCommands },
]

export const commands: readonly Command[] = sections.flatMap((section) => section.commands)
