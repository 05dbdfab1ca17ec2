// Prepares an installation that another benchmark has started, as described in `bench/peers.json`: one workspace, one
// number, one endpoint. Its last line of output has the ingress URL and the signing secret.
import { readConfig } from '@parley/server/config'
import { ingressPath } from '@parley/server/domain/connections/apps'
import { prepareAt } from './lib/prepare.ts'

const { PORT = '', HOOK_URL = '', APP_SECRET = '', PHONE_NUMBER_ID = '' } = process.env
const { appId, workspaces } = await prepareAt(readConfig(process.env), {
  hookUrls: [HOOK_URL],
  secret: APP_SECRET,
  phoneNumberId: () => PHONE_NUMBER_ID,
})
const ingressUrl = `http://127.0.0.1:${PORT}${ingressPath(appId)}`
console.log(JSON.stringify({ ingressUrl, hookSecret: workspaces[0]?.hookSecret }))
process.exit(0)
