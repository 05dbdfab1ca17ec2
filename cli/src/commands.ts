import type { Command, ListedCommand, Section } from './command.ts'

/** Every command, in the order of the help. */
export const sections: readonly Section[] = [
  {
    title: 'Service',
    commands: [
      ...from(() => import('./commands/start.ts'), { start: 'Start the service' }),
      ...from(() => import('./commands/migrate.ts'), { migrate: 'Migrate the database to this version' }),
      ...from(() => import('./commands/doctor.ts'), {
        doctor: 'Check the installation: what is wrong, what it means and what to do',
      }),
      ...from(() => import('./commands/why.ts'), { why: 'Say why a message or an event did not arrive' }),
      ...from(() => import('./commands/secrets.ts'), {
        'secrets reseal': 'Encrypt every stored secret with the first key of PARLEY_SECRET_KEYS',
      }),
      ...from(() => import('./commands/files.ts'), {
        'files status': 'Show how many files are in the database and in the file store, and their size',
        'files move': 'Move all files to the file store, or from there to the database',
      }),
    ],
  },
  {
    title: 'Workspaces and prices',
    commands: [
      ...from(() => import('./commands/workspace.ts'), {
        'workspace create': 'Create a workspace',
        'workspace list': 'List all workspaces',
        'workspace suspend': 'Suspend a workspace',
        'workspace resume': 'Resume a suspended workspace',
        'workspace limit': 'Set how many webhooks a workspace may have',
        'workspace credit': 'Add credits to a workspace, or remove some',
      }),
      ...from(() => import('./commands/price.ts'), {
        'price list': 'List the price of each message type, in credits',
        'price set': 'Set the price of a message type or template category',
      }),
    ],
  },
  {
    title: 'Console users',
    commands: from(() => import('./commands/user.ts'), {
      'user create': 'Invite a user to the console of a workspace',
      'user list': 'List the users of the console',
      'user operator': 'Make a user an operator of this installation, or end that',
      'user disable': 'Disable the account of a user',
      'user enable': 'Enable a disabled account',
      'user reset': 'Create a password reset link for a user',
      'user passkeys': 'List the passkeys of a user, or remove one',
    }),
  },
  {
    title: 'Personal data',
    commands: from(() => import('./commands/person.ts'), {
      'person export': 'Print everything that a workspace has about one contact',
      'person erase': 'Erase everything that a workspace has about one contact',
    }),
  },
  {
    title: 'API keys',
    commands: from(() => import('./commands/key.ts'), {
      'key create': 'Create an API key',
      'key change': 'Change an API key',
      'key list': 'List API keys, newest first',
      'key rotate': 'Replace an API key with a new one',
      'key revoke': 'Revoke an API key',
    }),
  },
  {
    title: 'Without a database',
    commands: from(() => import('./commands/login.ts'), {
      login: 'Store the URL and an API key of a service, for later commands',
    }),
  },
  {
    title: 'Agents',
    commands: from(() => import('./commands/mcp.ts'), {
      mcp: 'Let an agent on this machine use the API, over standard input and output',
    }),
  },
  {
    title: 'SDK',
    commands: from(() => import('./commands/types.ts'), {
      types: 'Write the types of templates and their variables for the SDK',
    }),
  },
  {
    title: 'Webhooks',
    commands: [
      ...from(() => import('./commands/webhook-list.ts'), { 'webhook list': 'List webhooks, newest first' }),
      ...from(() => import('./commands/webhook.ts'), {
        'webhook create': 'Create a webhook that receives events',
        'webhook change': 'Change the settings of a webhook',
        'webhook delete': 'Delete a webhook',
        'webhook test': 'Send a test event to a webhook',
        'webhook rotate': 'Create a new signing secret for a webhook',
        'webhook activate': 'End the old secret of a staged rotation',
        'webhook enable': 'Enable a webhook and deliver the events held for it',
        'webhook disable': 'Disable a webhook and hold its events',
      }),
      ...from(() => import('./commands/replay.ts'), {
        'webhook replay': 'Send past events to a webhook again, or for the first time',
        'replay list': 'List the latest 100 replays',
        'replay show': 'Show a replay and its progress',
        'replay cancel': 'Cancel a replay and drop what it has not sent yet',
      }),
      ...from(() => import('./commands/delivery.ts'), {
        'delivery list': 'List the latest 50 deliveries',
        'delivery retry': 'Retry the delivery of an event, or all that failed since a time',
      }),
      ...from(() => import('./commands/listen.ts'), {
        listen: 'Forward new events to your machine, or receive and verify deliveries',
      }),
    ],
  },
  {
    title: 'Messages, events and requests',
    commands: [
      ...from(() => import('./commands/send.ts'), { send: 'Send a message' }),
      ...from(() => import('./commands/events.ts'), { events: 'List events, or print new ones as they happen' }),
      ...from(() => import('./commands/trigger.ts'), { trigger: 'Make an event of a type happen' }),
      ...from(() => import('./commands/logs.ts'), { logs: 'List API requests, or print new ones as they are made' }),
    ],
  },
  {
    title: 'WhatsApp accounts',
    commands: [
      ...from(() => import('./commands/app.ts'), {
        'app create': 'Set up a Meta app and connect its account',
        'app change': 'Change the secret or the verify token of an app',
        'app list': 'List the registered Meta apps',
      }),
      ...from(() => import('./commands/connection.ts'), {
        'connection create': 'Connect a WhatsApp Business account to a workspace',
        'connection change': 'Replace the access token of a connection',
        'connection sync': 'Fetch the senders and templates of a connection now',
        'connection list': 'List the connected accounts and their last sync',
      }),
      ...from(() => import('./commands/sender.ts'), {
        'sender list': 'List the numbers of a workspace: status, limits, display name and PIN',
        'sender register': 'Register a number, so that it can send and receive messages',
        'sender deregister': 'End the registration of a number',
        'sender pin': 'Set the two-step PIN of a number',
        'sender request-code': 'Let WhatsApp send a verification code to a number',
        'sender verify-code': 'Verify a number with the code that WhatsApp sent',
        'sender profile': 'Show or change the business profile of a number',
        'sender name': 'Request a new display name for a number',
      }),
      ...from(() => import('./commands/template.ts'), {
        'template list': 'List the templates of a workspace: status, quality and reason',
        'template show': 'Show a template, and why it was rejected',
        'template create': 'Create a template and submit it for review',
        'template edit': 'Change a template and submit it for review again',
        'template delete': 'Delete a template',
      }),
      ...from(() => import('./commands/update.ts'), {
        'update list': 'List the latest 100 updates of WhatsApp that are not understood',
        'update show': 'Show an update as it arrived',
        'update reread': 'Interpret stored updates again and publish what was missed',
      }),
    ],
  },
  {
    title: 'Simulator',
    commands: [
      ...from(() => import('./commands/phone.ts'), {
        'phone send': 'Send a message from the handset to a sender',
        'phone record': 'Record a chat of the handset as a scenario for tests',
      }),
      ...from(() => import('./commands/phone-business.ts'), {
        'phone echo': 'Write to the handset from the Business app, or as an agent',
        'phone handover': 'Let an agent take a conversation, or hand it back',
        'phone history': 'Share past chats of the Business app',
        'phone contacts': 'Share contacts of the Business app',
        'phone update': 'Post a webhook with any field and value',
      }),
    ],
  },
  {
    title: 'Shell',
    commands: from(() => import('./commands/completion.ts'), {
      completion: 'Print a script that completes commands and options in your shell',
    }),
  },
]

export const commands: readonly ListedCommand[] = sections.flatMap((section) => section.commands)

/** The commands that this program does not have. The package of the SDK has `packaged/commands.ts` instead of this file. */
export const onServer: readonly string[] = []

/** The commands of one file, with the summary of each. */
function from(
  load: () => Promise<{ commands: readonly Command[] }>,
  summaries: Readonly<Record<string, string>>,
): ListedCommand[] {
  return Object.entries(summaries).map(([name, summary]) => ({
    name,
    summary,
    async load() {
      const command = (await load()).commands.find((each) => each.name === name)
      if (!command) throw new Error(`The command ${name} is listed, but not defined.`)
      return command
    },
  }))
}
