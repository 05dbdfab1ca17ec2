import { type App, createApp, defaultGraphUrl, ingressPath, listApps } from '@parley/server/domain/connections/apps'
import { replaceAppSecrets } from '@parley/server/domain/connections/replace-secrets'
import { type Command, UsageError } from '../command.ts'
import { readSecret } from '../secret.ts'
import { jsonList, table } from '../table.ts'

/** What the app should be subscribed to at Meta. */
const webhookFields = [
  'messages',
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
  'phone_number_quality_update',
  'phone_number_name_update',
  'account_update',
]

const appSecret = {
  value: 'S',
  variable: 'PARLEY_APP_SECRET',
  help: 'the app secret, from the app’s basic settings at Meta',
}
const verifyToken = {
  value: 'V',
  variable: 'PARLEY_VERIFY_TOKEN',
  help: 'a word of your own, which Meta repeats to us once',
}

export const appCommands: readonly Command[] = [
  {
    name: 'app create',
    summary: 'Make a Meta app known, through which accounts are connected',
    options: {
      name: { value: 'N', required: true, help: 'its name here' },
      'app-secret': appSecret,
      'verify-token': verifyToken,
      'graph-url': { value: 'U', help: `where its network is (default ${defaultGraphUrl})` },
    },
    async run(call) {
      const { db, clock, config, option } = call
      const input = {
        name: option('name') ?? '',
        appSecret: await readSecret(call, 'app-secret', appSecret),
        verifyToken: await readSecret(call, 'verify-token', verifyToken),
        graphUrl: option('graph-url'),
      }
      const app = await createApp(await db(), clock, config.secretKeys(), input)
      const json = toJson(app, config.publicUrl)
      return {
        lines: [
          `App ${app.id} made.`,
          '',
          'At Meta, in the app under WhatsApp > Configuration > Webhook, enter:',
          '',
          `  Callback URL  ${json.callback_url}`,
          '  Verify token  the one you gave',
          `  Fields        ${webhookFields.join(', ')}`,
          ...(json.callback_url.startsWith('https:')
            ? []
            : ['', 'Meta takes only an https address that it can reach: set PUBLIC_URL to the one people use.']),
          '',
          'Then connect an account: npx parley connection create --help',
        ],
        json,
      }
    },
  },
  {
    name: 'app change',
    summary:
      'Give an app another secret or verify token, where it has another at Meta or the key that sealed it is lost',
    args: ['ID'],
    options: {
      'app-secret': { value: 'S', help: 'the app secret; - reads a line of standard input' },
      'verify-token': { value: 'V', help: 'the verify token; - reads a line of standard input' },
    },
    async run(call) {
      const { db, config, option, args } = call
      const given = async (name: string) =>
        option(name) === undefined ? undefined : readSecret(call, name, { help: '' })
      const input = { appSecret: await given('app-secret'), verifyToken: await given('verify-token') }
      if (!input.appSecret && !input.verifyToken)
        throw new UsageError('Name what is to change: --app-secret or --verify-token.')
      const app = await replaceAppSecrets(await db(), config.secretKeys(), args[0] ?? '', input)
      return { lines: [`App ${app.id} is changed.`], json: toJson(app, config.publicUrl) }
    },
  },
  {
    name: 'app list',
    summary: 'Show the apps',
    async run({ db, config }) {
      const apps = await listApps(await db())
      const rows = apps.map((app) => [app.id, app.name, app.graphUrl, ingressPath(app.id), app.createdAt.toISOString()])
      const lines = table(['ID', 'NAME', 'NETWORK', 'INGRESS', 'CREATED'], rows, 'There is no app yet.')
      return { lines, json: jsonList(apps.map((app) => toJson(app, config.publicUrl))) }
    },
  },
]

const toJson = (app: App, publicUrl: string) => ({
  id: app.id,
  name: app.name,
  graph_url: app.graphUrl,
  ingress_path: ingressPath(app.id),
  callback_url: publicUrl + ingressPath(app.id),
  created_at: app.createdAt.toISOString(),
})
