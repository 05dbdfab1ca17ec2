import { type App, createApp, defaultGraphUrl, ingressPath, listApps } from '@parley/server/domain/connections/apps'
import { replaceAppSecrets } from '@parley/server/domain/connections/replace-secrets'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { formatTime } from '../format.ts'
import { readSecret } from '../read-secret.ts'
import { jsonList, table } from '../table.ts'

/** The webhook fields that the app must subscribe to at Meta. */
const webhookFields = [
  'messages',
  'standby',
  'messaging_handovers',
  'smb_message_echoes',
  'message_echoes',
  'history',
  'smb_app_state_sync',
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
  'phone_number_quality_update',
  'phone_number_name_update',
  'account_update',
  'account_review_update',
  'account_alerts',
  'user_preferences',
]

const appSecret = {
  value: 'SECRET',
  variable: 'PARLEY_APP_SECRET',
  help: 'App secret, from the app’s basic settings at Meta',
}
const verifyToken = {
  value: 'TOKEN',
  variable: 'PARLEY_VERIFY_TOKEN',
  help: 'Verify token that you choose and also enter at Meta',
}

export const commands: readonly Command[] = [
  {
    name: 'app create',
    details: 'WhatsApp accounts are connected through an app. The command prints what to enter at Meta.',
    options: {
      name: { value: 'NAME', required: true, help: 'Name of the app in Parley' },
      'app-secret': appSecret,
      'verify-token': verifyToken,
      'graph-url': { value: 'URL', help: `Base URL of the Graph API (default: ${defaultGraphUrl})` },
    },
    examples: [
      'app create --name "Acme" --app-secret - --verify-token - < secrets.txt',
      'app create --name "Acme" --app-secret SECRET --verify-token TOKEN',
    ],
    async run(call) {
      const { clock, config, option } = call
      const input = {
        name: option('name') ?? '',
        appSecret: await readSecret(call, 'app-secret', appSecret),
        verifyToken: await readSecret(call, 'verify-token', verifyToken),
        graphUrl: option('graph-url'),
      }
      const app = await change(call, async (tx, audit) => {
        const created = await createApp(tx, clock, config.secretKeys(), input)
        await audit({ action: 'app.create', ...targetOf(created), after: { graph_url: created.graphUrl } })
        return created
      })
      const json = toJson(app, config.publicUrl)
      return {
        lines: [
          `Created app ${app.name} (${app.id}).`,
          '',
          'At Meta, open the app, go to WhatsApp > Configuration > Webhook and enter:',
          '',
          `  Callback URL  ${json.callback_url}`,
          '  Verify token  the verify token you just set',
          `  Fields        ${webhookFields.join(', ')}`,
          ...(json.callback_url.startsWith('https:')
            ? []
            : ['', 'Meta accepts only a public https URL. Set PUBLIC_URL to the public address of this installation.']),
          '',
          `Then connect an account: ./parley connection create --workspace ID --app ${app.id} --waba-id ID`,
        ],
        json,
      }
    },
  },
  {
    name: 'app change',
    details: 'Use it when they changed at Meta, or when the key that encrypted them is lost.',
    args: ['ID'],
    idOf: 'app',
    options: {
      'app-secret': { value: 'SECRET', help: 'New app secret ("-" reads a line from standard input)' },
      'verify-token': { value: 'TOKEN', help: 'New verify token ("-" reads a line from standard input)' },
    },
    examples: ['app change ID --app-secret -'],
    async run(call) {
      const { config, option, args } = call
      const given = async (name: string) =>
        option(name) === undefined ? undefined : readSecret(call, name, { help: '' })
      const input = { appSecret: await given('app-secret'), verifyToken: await given('verify-token') }
      if (!input.appSecret && !input.verifyToken)
        throw new UsageError('Nothing to change. Pass --app-secret or --verify-token.')
      const app = await change(call, async (tx, audit) => {
        const changed = await replaceAppSecrets(tx, config.secretKeys(), args[0] ?? '', input)
        const after = {
          ...(input.appSecret && { app_secret: 'replaced' }),
          ...(input.verifyToken && { verify_token: 'replaced' }),
        }
        await audit({ action: 'app.change', ...targetOf(changed), after })
        return changed
      })
      return { lines: [`Updated app ${app.name} (${app.id}).`], json: toJson(app, config.publicUrl) }
    },
  },
  {
    name: 'app list',
    examples: ['app list'],
    async run({ db, config }) {
      const apps = await listApps(await db())
      const rows = apps.map((app) => [app.id, app.name, app.graphUrl, ingressPath(app.id), formatTime(app.createdAt)])
      const empty = 'No apps yet. Create one with: ./parley app create --name NAME'
      const lines = table(['ID', 'NAME', 'GRAPH API', 'CALLBACK PATH', 'CREATED'], rows, empty)
      return { lines, json: jsonList(apps.map((app) => toJson(app, config.publicUrl))) }
    },
  },
]

const targetOf = ({ id, name }: App) => ({ workspaceId: null, target: id, targetName: name })

const toJson = (app: App, publicUrl: string) => ({
  id: app.id,
  name: app.name,
  graph_url: app.graphUrl,
  ingress_path: ingressPath(app.id),
  callback_url: publicUrl + ingressPath(app.id),
  created_at: app.createdAt.toISOString(),
})
