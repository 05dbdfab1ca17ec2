type Json = Record<string, unknown>

/** The app secret and the access token: what the documents write as `…`. */
export const metaSecret = 'a-secret-that-the-reader-knows'

/** An account of another business at the simulated network, which is used in place of Meta. Returns the values that the documents name. */
export async function prepareMeta(
  post: (path: string, body: object) => Promise<Json>,
): Promise<Record<string, string>> {
  const { id: appId } = await post('/apps', { name: 'Shop app', secret: metaSecret })
  const { id: wabaId } = await post('/wabas', { name: 'Shop', appIds: [] })
  const { id: numberId } = await post('/numbers', { wabaId, phoneNumber: '15550780009', verifiedName: 'Shop' })
  const components = [{ type: 'BODY', text: 'Welcome.' }]
  await post('/templates', { wabaId, name: 'hello_world', language: 'en_US', category: 'UTILITY', components })
  await post('/tokens', { appId, wabaIds: [wabaId], token: metaSecret })
  return { META_APP_ID: String(appId), WABA_ID: String(wabaId), PHONE_NUMBER_ID: String(numberId), $TOKEN: metaSecret }
}
