import { expect, test } from 'vitest'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()
const ana = '16505550123'
const name = '<img src=x onerror="globalThis.stolen=1">'
const text = `<script>globalThis.stolen = 1</script> javascript:alert(1) \u202etxt.exe ${name}`

test('markup in names and messages of customers is shown as text and never runs', async () => {
  const { control } = console.place
  await control('PATCH', `/phones/${ana}`, { name })
  await control('POST', `/phones/${ana}/say`, { to: '15550780001', text })
  await control('POST', `/phones/${ana}/location`, {
    to: '15550780001',
    latitude: 1,
    longitude: 2,
    name,
    address: text,
  })
  const messages = () => console.ada.call(`/w/${console.place.workspaceId}/messages?phone=${ana}`)
  const rows: { id: string; type: string }[] = await until('both have arrived', async () => {
    const { data } = (await messages()).body
    return data.length === 2 && data
  })
  const page = await console.open('messages')
  await page.getByText('<script>globalThis.stolen').first().waitFor()
  const expectOnlyText = async () => {
    expect(await page.locator('img[src="x"], a[href^="javascript:"]').count()).toBe(0)
    expect(await page.evaluate<string>('typeof globalThis.stolen')).toBe('undefined')
  }
  await expectOnlyText()
  for (const { id } of rows) {
    await console.visit(page, `messages/${id}`)
    await page.getByRole('heading', { level: 1, name: /^From/ }).waitFor()
    await page.getByText('globalThis.stolen').first().waitFor()
    await expectOnlyText()
  }
})
