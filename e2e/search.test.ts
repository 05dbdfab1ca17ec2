import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** The search of the palette, by keyboard alone. */
const console = useSignedIn()
const zoe = '16505550191'

const find = async (q: string) =>
  (await console.ada.call(`/w/${console.place.workspaceId}/find?q=${encodeURIComponent(q)}`)).body.data

beforeAll(async () => {
  const { control } = console.place
  await control('PATCH', `/phones/${zoe}`, { name: 'Zoë Quintero' })
  for (const text of ['Is the lighthouse open today?', 'And the lighthouse museum?'])
    await control('POST', `/phones/${zoe}/say`, { to: '15550780001', text })
  await until('both messages are stored', async () => (await find('lighthouse')).length === 2)
})

test('a word of a message finds it, and Enter opens it', async () => {
  const page = await openSearch()
  await page.keyboard.type('LIGHTHOUSE muse')
  const found = page.getByRole('option', { name: /Zoë Quintero.*lighthouse museum/ })
  await choose(page, found)
  await page.getByRole('heading', { level: 1, name: /^From/ }).waitFor()
  await page.getByText('And the lighthouse museum?').first().waitFor()
  const [{ href }] = await find('lighthouse muse')
  expect(new URL(page.url()).pathname).toBe(href)
})

test('what is typed while the search is loading is kept, and is no shortcut', async () => {
  const page = await console.open('settings', { isNew: true })
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  let load: () => void = () => undefined
  const isTyped = new Promise<void>((resolve) => {
    load = resolve
  })
  await page.route(/\/palette-[\w-]+\.js$/, async (route) => {
    await isTyped
    await route.continue()
  })
  // The page loads the search by itself when it has nothing to do, so it may have done so already.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('go to museums')
  await page.keyboard.press('Backspace')
  expect(await searchField(page).count()).toBe(0)
  load()
  await hasFocus(page, searchField(page))
  expect(await searchField(page).inputValue()).toBe('go to museum')
  expect(page.url()).toMatch(/\/settings$/)
})

test('a word of two messages finds both, and arrow keys choose between them', async () => {
  const page = await openSearch()
  await page.keyboard.type('lighthouse')
  const results = page.getByRole('option', { name: /lighthouse/ })
  await results.nth(1).waitFor()
  expect(await results.count()).toBe(2)
  await screenshot(page, 'search for a word')
  // Enter that ends the composition of a word chooses nothing.
  await searchField(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true })
  expect(await searchField(page).inputValue()).toBe('lighthouse')
  await choose(page, page.getByRole('option', { name: /open today/ }))
  await page.getByText('Is the lighthouse open today?').first().waitFor()
})

test('a part of a number finds the contact, and Enter opens the conversation', async () => {
  const page = await openSearch()
  await page.keyboard.type('555-0191')
  await choose(page, page.getByRole('option', { name: /^Zoë Quintero/ }))
  await page.getByRole('heading', { level: 1, name: 'Zoë Quintero' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/w/${console.place.workspaceId}/contacts/${zoe}`)
  await page.getByText('Is the lighthouse open today?').first().waitFor()
})

test('accents do not matter, and if there is more than is listed, the search says so', async () => {
  const { control } = console.place
  for (let n = 1; n <= 6; n++)
    await control('POST', `/phones/${zoe}/say`, { to: '15550780001', text: `Ferry number ${n}` })
  const newest = async () => (await find('ferry 6')).length === 1
  await until('all messages are stored', newest)
  const page = await openSearch()
  await page.keyboard.type('zoe quint')
  await page.getByRole('option', { name: /^Zoë Quintero/ }).waitFor()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('férry')
  await page.getByText('Only the newest results are shown. Type more to narrow them down.').waitFor()
  await expect.poll(() => page.getByRole('option', { name: /Ferry number/ }).count()).toBe(5)
  await screenshot(page, 'search with more results')
})

test('a word that nothing has says so, and Esc closes the search', async () => {
  const page = await openSearch()
  await page.keyboard.type('lighthouse zebra')
  await page.getByText('No results for “lighthouse zebra”.').waitFor()
  await page.keyboard.press('Escape')
  await searchField(page).waitFor({ state: 'detached' })
})

test('on a page with a search field, / goes to that field', async () => {
  const page = await console.open('messages')
  const field = page.getByRole('searchbox')
  await field.waitFor()
  await page.keyboard.press('/')
  await hasFocus(page, field)
  expect(await searchField(page).count()).toBe(0)
  // Esc that cancels the composition of a word does not clear the field.
  await page.keyboard.type('ferry')
  await field.dispatchEvent('keydown', { key: 'Escape', isComposing: true })
  expect(await field.inputValue()).toBe('ferry')
})

const searchField = (page: Page) => page.getByRole('combobox', { name: 'Search or jump to' })

async function openSearch(): Promise<Page> {
  const page = await console.open('settings')
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await page.keyboard.press('/')
  await hasFocus(page, searchField(page))
  await expect.poll(() => searchField(page).inputValue()).toBe('')
  return page
}

/** Presses the arrow key until the option is selected, then Enter. */
async function choose(page: Page, option: Locator): Promise<void> {
  await option.waitFor()
  for (let presses = 0; (await option.getAttribute('aria-selected')) !== 'true'; presses++) {
    if (presses === 20) throw new Error(`The arrow key does not lead to ${option}`)
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
  await searchField(page).waitFor({ state: 'detached' })
}

const hasFocus = (page: Page, target: Locator) =>
  until(`the focus is on ${target}`, async () => (await page.locator(':focus').and(target).count()) > 0)
