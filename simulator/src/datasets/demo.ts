import type { Dataset } from '../control/shapes.ts'
import { demoFlow } from './demo-flow.ts'
import { demoAppId as appId, type DemoSecrets } from './demo-secrets.ts'
import { demoTemplates } from './demo-templates.ts'

const wabaId = '102290000000001'

/** A small example business: one app, one account, two numbers, a form, a catalog and eleven templates. */
export const demoDataset = ({ appSecret, verifyToken, accessToken }: DemoSecrets): Dataset => ({
  apps: [{ id: appId, name: 'Demo app', secret: appSecret, verifyToken }],
  wabas: [{ id: wabaId, name: 'Harbour Clinic', appIds: [appId] }],
  numbers: [
    { id: '106540000000001', wabaId, phoneNumber: '15550780001', verifiedName: 'Harbour Clinic', isOnBizApp: true },
    { id: '106540000000002', wabaId, phoneNumber: '15550780002', verifiedName: 'Harbour Pharmacy' },
  ],
  tokens: [{ token: accessToken, appId, wabaIds: [wabaId] }],
  templates: demoTemplates.map((template) => ({ wabaId, ...template })),
  flows: [
    { id: '800000000000001', wabaId, name: 'Patient intake', categories: ['APPOINTMENT_BOOKING'], json: demoFlow },
  ],
  catalogs: [
    {
      id: '300000000000001',
      wabaId,
      name: 'Pharmacy',
      products: [
        { retailerId: 'SKU-1', name: 'Sunscreen SPF 50', price: 12.5, currency: 'USD' },
        { retailerId: 'SKU-2', name: 'First-aid kit', price: 24.9, currency: 'USD' },
        { retailerId: 'SKU-3', name: 'Thermometer', price: 9.99, currency: 'USD' },
      ],
    },
  ],
  phones: {
    '16505550123': { name: 'Ana Prueba' },
    '491701234567': { name: 'Jörg Müller' },
    '16505550199': { name: 'Bea Díaz', username: 'bea.diaz', switches: { senderIdentity: 'user_id_only' } },
  },
})
