import { afterEach, expect, test, vi } from 'vitest'
import { confirmWith, send } from './api.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  confirmWith(async () => false)
})

/** Responds with confirmation_required until `isConfirmed` is set. */
function stubService() {
  const service = { isConfirmed: false }
  vi.stubGlobal('fetch', async (path: string) =>
    service.isConfirmed
      ? Response.json({ path })
      : Response.json({ error: { code: 'confirmation_required', message: 'Confirm' } }, { status: 403 }),
  )
  return service
}

test('concurrent requests that need a confirmation share one prompt, and all of them continue', async () => {
  const service = stubService()
  const prompts: ((isConfirmed: boolean) => void)[] = []
  confirmWith(() => new Promise((resolve) => void prompts.push(resolve)))
  const requests = [send('POST', 'keys'), send('POST', 'webhooks')]
  await vi.waitFor(() => expect(prompts.length).toBeGreaterThan(0), 60_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(prompts).toHaveLength(1)
  service.isConfirmed = true
  prompts[0]?.(true)
  expect(await Promise.all(requests)).toEqual([{ path: '/console/api/keys' }, { path: '/console/api/webhooks' }])
})

test('cancelling the prompt rejects the request, and the next request prompts again', async () => {
  stubService()
  let prompts = 0
  confirmWith(async () => {
    prompts += 1
    return false
  })
  for (const turn of [1, 2]) {
    const request = send('POST', 'keys')
    await expect(request).rejects.toMatchObject({
      code: 'confirmation_required',
      message: 'Nothing was changed, because you did not confirm your identity.',
    })
    expect(prompts).toBe(turn)
  }
})
