import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()

const inWorkspace = (path: string) => `/w/${console.place.workspaceId}/${path}`

/** Makes a request with the key of the demo workspace and returns its ID once it is in the log. */
async function request(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(console.place.url + path, {
    ...init,
    headers: { authorization: `Bearer ${console.place.key}`, 'content-type': 'application/json' },
  })
  await response.text()
  const id = response.headers.get('x-request-id') ?? ''
  await expect.poll(async () => (await console.ada.call(inWorkspace(`requests/${id}`))).status).toBe(200)
  return id
}

const send = (body: object) => request('/v1/messages', { method: 'POST', body: JSON.stringify(body) })

test('a failed request says how to turn the inspector on; an admin does, sees redacted bodies, and turns it off again', async () => {
  const id = await send({ to: 'Ana', text: { body: '' } })
  const page = await console.open(`requests?open=${id}`)
  const drawer = page.getByRole('dialog')
  await drawer.getByText('Invalid fields').waitFor()
  await drawer.getByText('Bodies are not stored.').waitFor()
  await drawer.getByText('Response body').waitFor()
  expect(await drawer.getByText('Request body').count()).toBe(0)
  await drawer.getByRole('link', { name: 'Turn on in Settings' }).click()

  await page.getByRole('switch', { name: 'Store request and response bodies' }).click()
  const asking = page.getByRole('dialog', { name: 'Store request and response bodies?' })
  await asking.getByText('Headers, such as Authorization').waitFor()
  await asking.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Request inspector turned on').waitFor()
  await page.getByRole('heading', { name: 'Request inspector' }).scrollIntoViewIfNeeded()
  await screenshot(page, 'inspector settings')

  const wrong = await send({ to: 'Ana Lima', text: { body: "it's Ana" }, unknown_field: 'x' })
  await console.visit(page, `requests?open=${wrong}`)
  const body = drawer.getByRole('figure').filter({ hasText: 'Request body' })
  // Each problem is next to its field; a missing field is added.
  await body.getByText('Enter a phone number with its country code').waitFor()
  await body.getByText('"unknown_field" is not a known field.').waitFor()
  await body.getByText('type: missing').waitFor()
  expect(await drawer.textContent()).not.toMatch(/Ana/)
  await screenshot(page, 'inspector failed request')
  await page.setViewportSize({ width: 390, height: 844 })
  await screenshot(page, 'inspector phone')
  // The page is drawn again for the other width.
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await page.setViewportSize({ width: 1440, height: 900 })

  const [sender] = (await console.ada.call(inWorkspace('senders'))).body.data
  const sent = await send({ to: '491701234567', type: 'text', text: { body: "it's Ana" }, sender_id: sender.id })
  await console.visit(page, `requests?open=${sent}`)
  await drawer.getByText('Message and deliveries').waitFor()
  await drawer.getByText('[redacted: 12 characters]').first().waitFor()
  const curl = drawer.getByText('curl -X POST')
  expect(await curl.textContent()).toContain('"Authorization: Bearer $PARLEY_API_KEY"')
  await drawer.getByText('Fill in the redacted values.').waitFor()
  expect(await drawer.textContent()).not.toMatch(/491701234567|it's Ana/)
  await screenshot(page, 'inspector request')
  await drawer.getByRole('link', { name: /^msg_/ }).click()
  await page.waitForURL(/\/messages\/msg_/)
  const unseen = await send({ to: '491701234567', type: 'text', text: { body: "it's Ana" }, sender_id: sender.id })

  await console.visit(page, 'settings')
  await page.getByRole('switch', { name: 'Store request and response bodies' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off and delete' }).click()
  await page.getByText('Request inspector turned off').waitFor()
  await console.visit(page, `requests?open=${unseen}`)
  await drawer.getByText('Bodies are not stored.').waitFor()
  expect(await drawer.getByText('Request body').count()).toBe(0)
})

test('the audit log is filtered by several actions, which are in the URL, and names people', async () => {
  await console.ada.call(inWorkspace('settings'), { method: 'PATCH', body: { name: 'Harbour' } })
  await console.ada.call(inWorkspace('refusals/not_found/mute'), { method: 'PUT', body: {} })
  const page = await console.open('audit')
  await page.getByRole('search').getByRole('button', { name: 'Action' }).click()
  await page.getByRole('option', { name: 'API errors muted' }).click()
  await page.getByRole('option', { name: 'Settings changed' }).click()
  await page.waitForURL(/action=refusals\.mute,workspace\.settings/)
  await page.keyboard.press('Escape')
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
  await rows.filter({ hasText: 'muted API errors' }).first().waitFor()
  await rows.filter({ hasText: 'changed the settings' }).first().waitFor()
  await rows.filter({ hasText: 'Ada' }).filter({ hasText: 'ada@harbour.example' }).first().waitFor()
  await screenshot(page, 'audit')
  await console.visit(page, 'settings')
  await page.goBack()
  await page.getByText('API errors muted, Settings changed').waitFor()
})

test('a live request log keeps its new requests when Live is turned off, and has every request of a burst', async () => {
  const log = (route: string, count: number) =>
    console.db.change(
      `insert into request_log (at, id, workspace_id, method, route, status, duration_us)
       select now() - n * interval '1 millisecond', gen_random_uuid(), $1, 'GET', $2, 200, n
       from generate_series(1, $3::int) n`,
      [console.place.workspaceId, route, count],
    )
  const page = await console.open('requests?route=/v1/late&live=1')
  const rows = (route: string) => page.getByRole('table', { name: 'Requests' }).getByText(route, { exact: true })
  await page.getByText('No matching requests').waitFor()
  await log('/v1/late', 1)
  // Its update tells the page that there are new requests.
  await request('/v1/me')
  await rows('/v1/late').waitFor()
  await page.getByRole('switch', { name: 'Live' }).press('Space')
  await page.waitForURL((url) => !url.searchParams.has('live'))
  expect(await rows('/v1/late').count()).toBe(1)

  await console.visit(page, 'requests?route=/v1/burst&live=1')
  await page.getByText('No matching requests').waitFor()
  await log('/v1/burst', 120)
  await request('/v1/me')
  await expect.poll(() => rows('/v1/burst').count()).toBe(50)
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => rows('/v1/burst').count()).toBe(100)
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => rows('/v1/burst').count()).toBe(120)
})

test('the bars above the request log choose a time by drag, click and keyboard, and a result by the legend', async () => {
  const startMs = Math.floor((Date.now() - 30 * 60_000) / 60_000) * 60_000
  const after = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString()
  // Four requests: two in minute 5, one that failed in minute 10, one in minute 20.
  await console.db.rows(`select ensure_days('request_log', $1::date, 2)`, [after(0)])
  await console.db.change(
    `insert into request_log (at, id, workspace_id, method, route, status, code, duration_us)
     select r.at, gen_random_uuid(), $1, 'GET', r.route, r.status, r.code, 900
     from unnest($2::timestamptz[], $3::text[], $4::int[], $5::text[]) as r(at, route, status, code)`,
    [
      ...[console.place.workspaceId, [after(5), after(5), after(10), after(20)], ['/v1/a', '/v1/b', '/v1/c', '/v1/d']],
      ...[
        [200, 200, 404, 200],
        [null, null, 'not_found', null],
      ],
    ],
  )
  const page = await console.open(`requests?from=${after(0)}&to=${after(30)}`)
  const plot = page.getByRole('application', { name: /Requests by result/ })
  const routes = () =>
    page
      .getByRole('table', { name: 'Requests' })
      .getByText(/^\/v1\/[a-d]$/)
      .allTextContents()
  const shows = (...expected: string[]) => expect.poll(async () => (await routes()).sort()).toEqual(expected)
  const timeIs = (from: number, to: number) =>
    expect
      .poll(() => {
        const { searchParams } = new URL(page.url())
        return [searchParams.get('from'), searchParams.get('to')]
      })
      .toEqual([after(from), after(to)])
  /** The middle of a bar. */
  const barAt = async (index: number, count: number) => {
    await page.getByRole('application', { name: `Requests by result, ${count} bars` }).waitFor()
    const { x, y, width } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0 }
    return [x + 36 + ((width - 36) / count) * (index + 0.5), y + 30] as const
  }
  await shows('/v1/a', '/v1/b', '/v1/c', '/v1/d')

  // A drag from right to left over the bars of minutes 4 to 11.
  await page.mouse.move(...(await barAt(11, 30)))
  await page.mouse.down()
  await page.mouse.move(...(await barAt(4, 30)), { steps: 5 })
  await page.mouse.up()
  await timeIs(4, 12)
  await shows('/v1/a', '/v1/b', '/v1/c')

  const failed = page.getByRole('button', { name: /^4xx/ })
  await failed.click()
  await shows('/v1/c')
  expect(await failed.getAttribute('aria-pressed')).toBe('true')
  await page.goBack()
  await shows('/v1/a', '/v1/b', '/v1/c')

  // By keyboard: the first two bars of eight.
  await barAt(0, 8)
  await plot.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Enter')
  await timeIs(4, 6)
  await shows('/v1/a', '/v1/b')

  await page.mouse.click(...(await barAt(0, 2)))
  await timeIs(4, 5)
  await page.getByText('No requests in this time').waitFor()
  await page.goBack()
  await barAt(0, 2)
  await page.getByRole('button', { name: 'Show as table' }).click()
  const table = page.getByRole('table', { name: 'Requests by result' })
  expect(await table.getByRole('row').last().getByRole('cell').allTextContents()).toEqual(['2', '0', '0', '0'])
})
