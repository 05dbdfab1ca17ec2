import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newNetwork } from './network.ts'
import { replaceAccessToken, replaceAppSecrets } from './replace-secrets.ts'
import { newVault } from './vault.ts'

const server = useTestServer()
const world = useSimulator(server)

test('a new token is used from the next call on; one that the network rejects is not stored', async () => {
  const account = world.newAccount()
  const { id, appId } = await account.connect(await newWorkspace(server))
  const tokenNow = async () => (await world.network.vault.accessFor(id))?.accessToken
  await expect(replaceAccessToken(world.network, id, 'wrong')).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(replaceAccessToken(world.network, id, 'two words')).rejects.toMatchObject({ code: 'validation_failed' })
  expect(await tokenNow()).toBe(account.token)

  const simulatedApp = world.control.apps.list().find(({ secret }) => secret === account.appSecret)
  const { token } = world.control.tokens.create({ appId: simulatedApp?.id ?? '', wabaIds: [account.wabaId] })
  const { sync } = await replaceAccessToken(world.network, id, token)
  expect(sync).toMatchObject({ kind: 'synced', senders: 1 })
  expect(await tokenNow()).toBe(token)
  expect((await world.network.vault.openApp(appId))?.appSecret).toBe(account.appSecret)
})

test('after the encryption key was lost, an app and its connection can be given new secrets', async () => {
  const account = world.newAccount()
  const { id, appId } = await account.connect(await newWorkspace(server))
  const { db, clock } = server
  const secretKeys = new Map([['new', randomBytes(32)]])
  const network = newNetwork({ db, clock, secretKeys, client: world.network.client })
  await expect(network.vault.accessFor(id)).rejects.toThrow('no secret key')
  await replaceAppSecrets(db, secretKeys, appId, { appSecret: account.appSecret, verifyToken: 'v-2' })
  await replaceAccessToken(network, id, account.token)
  const vault = newVault(db, secretKeys)
  expect(await vault.openApp(appId)).toMatchObject({ appSecret: account.appSecret, verifyToken: 'v-2' })
  expect(await vault.accessFor(id)).toMatchObject({ accessToken: account.token })
  await expect(replaceAppSecrets(db, secretKeys, appId, { appSecret: 'two words' })).rejects.toThrow('app secret')
})
