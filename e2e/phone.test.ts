import { expect, test } from 'vitest'
import { screenshot, visit } from '../server/testing/browser.ts'
import { consolePages } from './console-pages.ts'
import { layoutProblems } from './layout-problems.ts'
import { watchShifts } from './layout-shift.ts'
import { pageReady } from './page-ready.ts'
import { smallTargets } from './touch-targets.ts'
import { useBusy } from './use-busy.ts'

/** The console on a phone: what can be touched is large enough, no page scrolls sideways, and a list has two lines in a row. */
const busy = useBusy({
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
})

test('on no page there is anything too small to touch or out of reach, none scrolls sideways, and nothing moves by itself', async () => {
  const found: Record<string, string[]> = {}
  const page = await busy.openPage()
  const shifts = await watchShifts(page)
  for (const { name, path } of await consolePages(busy.console, busy.place.workspaceId)) {
    const moved = await shifts.visit(busy.place.url + path)
    await screenshot(page, `phone ${name}`)
    const problems = [...moved, ...(await smallTargets(page)), ...(await layoutProblems(page))]
    if (problems.length > 0) found[name] = problems
  }
  await shifts.stop()
  expect(found).toEqual({})
}, 200_000)

test('what is too small or cut off, and what moves, is found', async () => {
  const page = await busy.openPage()
  const shifts = await watchShifts(page)
  expect(await shifts.visit(`${busy.place.url}/w/${busy.place.workspaceId}/messages`)).toEqual([])
  await page.evaluate(
    `document.querySelector('main').insertAdjacentHTML('afterbegin', '<p style="height: 90px">Late</p>')`,
  )
  expect(await shifts.take()).toEqual([expect.stringMatching(/^moves by 0\.[1-9]/)])
  await shifts.stop()
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
  await visit(page, `${busy.place.url}/w/${busy.place.workspaceId}/messages`)
  const row = page.getByRole('table', { name: 'Messages' }).locator('tbody tr').first()
  await row.waitFor()
  await pageReady(page)
  const { height = 0 } = (await row.boundingBox()) ?? {}
  expect(height).toBeGreaterThanOrEqual(44)
  expect(height).toBeLessThan(90)
  await row.tap()
  await page.waitForURL(/\/messages\/msg_/)
})
