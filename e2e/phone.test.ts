import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { consolePages } from './console-pages.ts'
import { animationsDone, choose, pageReady } from './page-ready.ts'
import { smallTargets } from './touch-targets.ts'
import { useBusy } from './use-busy.ts'

/** The console on a phone: what can be touched is large enough, no page scrolls sideways, and a list has two lines in a row. */
const busy = useBusy({
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  reducedMotion: 'reduce',
})

test('on no page there is anything too small to touch, and none scrolls sideways', async () => {
  const remaining = (await consolePages(busy.console, busy.place.workspaceId)).values()
  const found: Record<string, string[]> = {}
  const checkPages = async (page: Page) => {
    for (const { name, path } of remaining) {
      await page.goto(busy.place.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
      await pageReady(page)
      await screenshot(page, `phone ${name}`)
      const small = await smallTargets(page)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (width > 390) small.push(`the page is ${width} px wide`)
      if (small.length > 0) found[name] = small
    }
  }
  await Promise.all([checkPages(await busy.openPage()), checkPages(await busy.openPage())])
  expect(found).toEqual({})
}, 200_000)

/** How to open each dialog and drawer: a page, what to click there, and whether a menu item follows. */
const layers: Record<string, { path: string; clicks?: readonly (string | RegExp)[]; item?: string }> = {
  'create key': { path: 'keys?new=1' },
  key: { path: 'keys', clicks: ['row'] },
  'edit key': { path: 'keys', clicks: ['row', 'Edit'] },
  'rotate key': { path: 'keys', clicks: ['row', 'Rotate'] },
  'revoke key': { path: 'keys', clicks: ['row', 'Revoke'] },
  'create webhook': { path: 'webhooks?new=1' },
  'test event': { path: 'webhook', clicks: ['Send test event'] },
  'retry deliveries': { path: 'webhook', clicks: ['More actions'], item: 'Retry failed deliveries' },
  'replay events': { path: 'webhook', clicks: ['More actions'], item: 'Replay events' },
  'rotate secret': { path: 'webhook', clicks: ['More actions'], item: 'Rotate signing secret' },
  'disable webhook': { path: 'webhook', clicks: ['More actions'], item: 'Disable webhook' },
  'delete webhook': { path: 'webhook', clicks: ['More actions'], item: 'Delete webhook' },
  delivery: { path: 'deliveries', clicks: ['row'] },
  request: { path: 'requests', clicks: ['row'] },
  'API error': { path: 'api-errors', clicks: ['row'] },
  'audit entry': { path: 'audit', clicks: ['row'] },
  'send message': { path: 'messages', clicks: ['Send message'] },
  'test message': { path: 'template', clicks: ['Send test message'] },
  'send a template': { path: 'contacts/16505550123', clicks: ['Send a template'] },
  'erase contact': { path: 'contacts/16505550123', clicks: ['Erase'] },
  invite: { path: 'team', clicks: [/^Invite/] },
  'change role': { path: 'team', clicks: [/^Actions for/], item: 'Change role…' },
  'leave workspace': { path: 'team', clicks: [/^Leave/] },
  'low credits': { path: 'credits', clicks: ['Edit'] },
  workspace: { path: '/operator/workspaces', clicks: ['row'] },
  'create workspace': { path: '/operator/workspaces', clicks: ['Create workspace'] },
  'add app': { path: '/operator/apps', clicks: ['Add app'] },
  'connect account': { path: '/operator/apps', clicks: ['Connect account'] },
}

test('in no dialog or drawer is anything too small to touch, and none is wider than the screen', async () => {
  const { data } = (await busy.console.call(`/w/${busy.place.workspaceId}/templates?limit=100`)).body
  const template = data.find(({ status }: { status: string }) => status === 'APPROVED')?.id
  const webhooks = (await busy.console.call(`/w/${busy.place.workspaceId}/webhooks`)).body.data
  const webhook = webhooks.find(({ enabled }: { enabled: boolean }) => enabled)?.id
  const urlOf = (name: string) => {
    const path = name === 'template' ? `templates/${template}` : name === 'webhook' ? `webhooks/${webhook}` : name
    return busy.place.url + (path.startsWith('/') ? path : `/w/${busy.place.workspaceId}/${path}`)
  }
  const remaining = Object.entries(layers).values()
  const found: Record<string, string[]> = {}
  const checkLayers = async (page: Page) => {
    for (const [name, { path, clicks = [], item }] of remaining) {
      await page.goto(urlOf(path))
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
      await pageReady(page)
      for (const click of clicks) {
        const target =
          click === 'row'
            ? page.getByRole('main').locator('tbody tr').first()
            : page.getByRole('button', { name: click, exact: typeof click === 'string' }).first()
        await target.tap()
      }
      if (item) await choose(page, item)
      const layer = page.getByRole('dialog').last()
      await layer.waitFor()
      await pageReady(page)
      await animationsDone(page)
      await screenshot(page, `phone dialog ${name}`)
      // The options of a list are next to the dialog in the document.
      const small = await smallTargets(page, '[role="dialog"], [role="listbox"]')
      const { x = 0, width = 0 } = (await layer.boundingBox()) ?? {}
      if (x < 0 || x + width > 390.5) small.push(`the dialog is ${width} px wide, at ${x}`)
      if (small.length > 0) found[name] = small
    }
  }
  await Promise.all([checkLayers(await busy.openPage()), checkLayers(await busy.openPage())])
  expect(found).toEqual({})
}, 240_000)

test('a long message takes no more than a screen until it is opened', async () => {
  const text = Array.from({ length: 60 }, (_, line) => `Line ${line + 1} of a long message`).join('\n')
  await busy.place.control('POST', '/phones/16505550123/say', { to: '15550780001', text })
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/w/${busy.place.workspaceId}/contacts/16505550123`)
  const all = page.getByRole('button', { name: 'Show all' }).last()
  await all.waitFor()
  await pageReady(page)
  await screenshot(page, 'phone long message')
  const bubble = page.locator('[class*="bubble"]').filter({ has: page.getByText('Line 1 of a long message') })
  const heightOf = async () => (await bubble.last().boundingBox())?.height ?? 0
  expect(await heightOf()).toBeGreaterThan(100)
  expect(await heightOf()).toBeLessThan(500)
  expect(await smallTargets(page)).toEqual([])
  await all.tap()
  await all.waitFor({ state: 'detached' })
  expect(await heightOf()).toBeGreaterThan(900)
})

test('what is too small or cut off is found', async () => {
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/w/${busy.place.workspaceId}/messages`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await pageReady(page)
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend',
    '<button class="small" aria-label="Small" style="all: unset; display: block; width: 20px; height: 20px">x</button>' +
    '<div style="height: 10px; overflow: hidden"><a href="#" style="display: block; height: 60px">Cut off</a></div>' +
    '<div style="clip-path: inset(50%)"><button aria-label="Clipped" style="width: 60px; height: 60px">x</button></div>' +
    '<table><tr><td><a href="#">Alone</a></td></tr></table>' +
    '<p>A sentence with <a href="#">a link</a> in it.</p>')`)
  const found = (await smallTargets(page)).map((each) => /"(.*)"/.exec(each)?.[1])
  expect(found).toEqual(['Small', 'Cut off', 'Clipped', 'Alone'])
})

test('a list has rows of two lines', async () => {
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/w/${busy.place.workspaceId}/messages`)
  const row = page.getByRole('table', { name: 'Messages' }).locator('tbody tr').first()
  await row.waitFor()
  await pageReady(page)
  const { height = 0 } = (await row.boundingBox()) ?? {}
  expect(height).toBeGreaterThanOrEqual(44)
  expect(height).toBeLessThan(90)
  await row.tap()
  await page.waitForURL(/\/messages\/msg_/)
})
