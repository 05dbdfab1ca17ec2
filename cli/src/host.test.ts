import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { newDataDir } from '../../server/testing/prepared-data-dir.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { runParley, serveParley } from '../testing/run-parley.ts'

/** An address of this machine that a server on 127.0.0.1 does not listen on. Linux has many loopback addresses. */
const otherAddress =
  process.platform === 'linux'
    ? '127.0.0.2'
    : Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === 'IPv4' && !each.internal)?.address

test('with HOST=0.0.0.0 webhooks do not reach this machine, and the simulator stays on loopback', async () => {
  let requests = 0
  const receiver = createServer((_request, response) => {
    requests++
    response.end('the secrets of another service')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

  const env = { PARLEY_DATA_DIR: newDataDir(tempFolder()), PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const open = { ...env, HOST: '0.0.0.0' }
  const service = await serveParley(open)
  expect(service.out()).toMatch(
    /^HOST is 0\.0\.0\.0, so webhooks cannot .* set PARLEY_WEBHOOK_ALLOW_CIDRS=\S+ and PARLEY_WEBHOOK_ALLOW_HTTP=true\.$/m,
  )
  const json = async (words: string[], more = env) => {
    const { code, out, err } = await runParley([...words, '--json'], more)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out) as { id: string; data: { id: string; state: string; last_error: string | null }[] }
  }
  const workspace = (await json(['workspace', 'list'])).data[0]?.id ?? ''
  const create = ['webhook', 'create', '--workspace', workspace, '--name', 'a', '--event', 'message.received', '--url']
  expect(await runParley([...create, target], open)).toMatchObject({
    code: 1,
    err: expect.stringContaining('https://'),
  })

  // Saved while HOST was a loopback address.
  const { id } = await json([...create, target])
  await json(['webhook', 'test', id])
  const [delivery] = await until('the delivery was attempted', async () => {
    const { data } = await json(['delivery', 'list', '--webhook', id])
    return data[0]?.last_error ? data : undefined
  })
  expect(delivery?.last_error).toContain('blocked')
  expect(requests).toBe(0)

  const { port } = new URL(service.url)
  const simulator = env.PARLEY_SIMULATOR_PORT
  expect((await fetch(`http://${otherAddress}:${port}/healthz`)).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${simulator}/status`)).status).toBe(200)
  await expect(fetch(`http://${otherAddress}:${simulator}/status`)).rejects.toThrow()
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
})
