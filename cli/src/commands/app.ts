import { type App, createApp, defaultGraphUrl, ingressPath, listApps } from '@parley/server/domain/connections/apps'
import { webhookFields } from '@parley/server/domain/connections/configure/inspect'
import { replaceAppSecrets } from '@parley/server/domain/connections/replace-secrets'
import { change } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { formatTime } from '../format.ts'
import { readSecret } from '../read-secret.ts'
import { runSetup, setupOptions } from '../run-setup.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'
import { accessToken } from './connection.ts'

const appSecret = {
  value: 'SECRET',
  variable: 'PARLEY_APP_SECRET',
  help: 'App secret, from the app’s basic settings at Meta',
}
const verifyToken = {
  value: 'TOKEN',
  help: 'Only without --app-id: a verify token that you also enter at Meta (or set PARLEY_VERIFY_TOKEN)',
}

export const commands: readonly Command[] = [
  {
    name: 'app create',
    details:
      'With --app-id, it sets up the app at Meta and connects the account: callback, webhook fields, subscription, phone numbers and templates. It can be repeated: what is right is not changed. Without --app-id, it prints what to enter at Meta.',
    options: {
      'app-id': { value: 'ID', usual: true, help: 'ID of the app at Meta' },
      'app-secret': appSecret,
      'access-token': { ...accessToken, help: `${accessToken.help}; only with --app-id` },
      'waba-id': { value: 'ID', help: 'Account ID (WABA ID); may be left out if the token is for one account' },
      workspace: workspaceOption('Workspace that gets the senders and templates'),
      name: { value: 'NAME', help: 'Name of the app in Parley (default: its name at Meta)' },
      ...setupOptions,
      'verify-token': verifyToken,
      'graph-url': { value: 'URL', help: `Base URL of the Graph API (default: ${defaultGraphUrl})` },
    },
    examples: [
      'app create --app-id 600000000000001 --app-secret - --access-token - < secrets.txt',
      'app create --app-id 600000000000001 --app-secret SECRET --access-token TOKEN --check',
      'app create --name "Acme" --app-secret SECRET --verify-token TOKEN',
    ],
    async run(call) {
      const { clock, config, option } = call
      const metaAppId = option('app-id')
      if (metaAppId !== undefined) return setUp(call, metaAppId)
      for (const name of ['access-token', 'waba-id', 'workspace']) {
        if (option(name) !== undefined) throw new UsageError(`--${name} needs --app-id.`)
      }
      const name = option('name')
      if (name === undefined) throw new UsageError('Pass --app-id, or --name to register the app only.')
      const input = {
        name,
        appSecret: await readSecret(call, 'app-secret', appSecret),
        verifyToken: await readSecret(call, 'verify-token', { ...verifyToken, variable: 'PARLEY_VERIFY_TOKEN' }),
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
      const empty = 'No apps yet. Create one with: ./parley app create --app-id ID'
      const lines = table(['ID', 'NAME', 'GRAPH API', 'CALLBACK PATH', 'CREATED'], rows, empty)
      return { lines, json: jsonList(apps.map((app) => toJson(app, config.publicUrl))) }
    },
  },
]

async function setUp(call: Call, metaAppId: string) {
  const { option } = call
  const app = {
    metaAppId,
    appSecret: await readSecret(call, 'app-secret', appSecret),
    name: option('name'),
    graphUrl: option('graph-url'),
  }
  const token = await readSecret(call, 'access-token', accessToken)
  const { id: workspaceId } = await readWorkspace(call)
  return runSetup(call, { app, accessToken: token, wabaId: option('waba-id'), workspaceId })
}

const targetOf = ({ id, name }: App) => ({ workspaceId: null, target: id, targetName: name })

const toJson = (app: App, publicUrl: string) => ({
  id: app.id,
  name: app.name,
  graph_url: app.graphUrl,
  meta_app_id: app.metaAppId,
  ingress_path: ingressPath(app.id),
  callback_url: publicUrl + ingressPath(app.id),
  created_at: app.createdAt.toISOString(),
})
