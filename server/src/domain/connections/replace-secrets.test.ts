import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newNetwork } from './network.ts'
import { renewApp, renewToken } from './renew.ts'
import { newVault } from './vault.ts'

const server = useTestServer()
const world = useSimulator(server)

test('a new token counts from the next call on; one that the network refuses changes nothing', async () => {
  const account = world.newAccount()
  const { id, appId } = await account.connect(await newWorkspace(server))
  const tokenNow = async () => (await world.network.vault.accessFor(id))?.accessToken
  await expect(renewToken(world.network, id, 'wrong')).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(renewToken(world.network, id, 'two words')).rejects.toMatchObject({ code: 'validation_failed' })
  expect(await tokenNow()).toBe(account.token)

  const theirs = world.control.apps.list().find(({ secret }) => secret === account.appSecret)
  const { token } = world.control.tokens.create({ appId: theirs?.id ?? '', wabaIds: [account.wabaId] })
  const { sync } = await renewToken(world.network, id, token)
  expect(sync).toMatchObject({ kind: 'synced', senders: 1 })
  expect(await tokenNow()).toBe(token)
  expect((await world.network.vault.openApp(appId))?.appSecret).toBe(account.appSecret)
})

test('with the key lost, an app and its connection are mended in place', async () => {
  const account = world.newAccount()
  const { id, appId } = await account.connect(await newWorkspace(server))
  const { db, clock } = server
  const secretKeys = new Map([['new', randomBytes(32)]])
  const network = newNetwork({ db, clock, secretKeys, client: world.network.client })
  await expect(network.vault.accessFor(id)).rejects.toThrow('no secret key')
  await renewApp(db, secretKeys, appId, { appSecret: account.appSecret, verifyToken: 'v-2' })
  await renewToken(network, id, account.token)
  const vault = newVault(db, secretKeys)
  expect(await vault.openApp(appId)).toMatchObject({ appSecret: account.appSecret, verifyToken: 'v-2' })
  expect(await vault.accessFor(id)).toMatchObject({ accessToken: account.token })
  await expect(renewApp(db, secretKeys, appId, { appSecret: 'two words' })).rejects.toThrow('app secret')
})
