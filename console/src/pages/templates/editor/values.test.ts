import { checkTemplate } from '@parley/contract/console/template-rules'
import { expect, test } from 'vitest'
import { templateBubble } from '../../../lib/bubble.ts'
import {
  draftOfValues,
  emptyValues,
  hasOnlyKnownParts,
  newButton,
  nextVariable,
  previewComponents,
  previewValues,
  valuesOfTemplate,
  withCategory,
} from './values.ts'

const template = {
  name: 'order_update',
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'For {{1}}', example: { header_text: ['Ana'] } },
    {
      type: 'BODY',
      text: 'Hello {{1}}, your order {{2}} is on its way to you.',
      example: { body_text: [['Ana', 'A-1001']] },
    },
    { type: 'FOOTER', text: 'Harbour Shop' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Thanks' },
        { type: 'URL', text: 'Track', url: 'https://shop.example/o/{{1}}', example: ['https://shop.example/o/A-1001'] },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550780001' },
        { type: 'COPY_CODE', example: 'SUMMER25' },
        { type: 'FLOW', text: 'Fill in', flow_id: '123', flow_action: 'navigate', navigate_screen: 'FIRST' },
      ],
    },
  ],
}

test('a template that is edited and not changed stays as it is', () => {
  expect(draftOfValues(valuesOfTemplate(template))).toEqual(template)
  expect(checkTemplate(draftOfValues(valuesOfTemplate(template)))).toEqual([])
  const named = {
    ...template,
    components: [
      {
        type: 'BODY',
        text: 'Hello {{first_name}}, we are open today.',
        example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] },
      },
    ],
  }
  expect(draftOfValues(valuesOfTemplate(named))).toEqual(named)
})

test('the link of a button asks for the end that is variable, and sends the whole link as the example', () => {
  const [, link] = valuesOfTemplate(template).buttons
  expect(link).toMatchObject({ url: 'https://shop.example/o/{{1}}', example: 'A-1001' })
  const missing = {
    ...emptyValues,
    buttons: [{ ...newButton('URL', []), text: 'Track', url: 'https://shop.example/{{1}}' }],
  }
  expect(checkTemplate(draftOfValues(missing)).map(({ path }) => path)).toContain('buttons.0.example')
})

test('the preview shows the examples, and a variable without one as it is', () => {
  const values = valuesOfTemplate(template)
  const shown = (examples: Record<string, string>) => {
    const edited = { ...values, body: { ...values.body, examples } }
    return templateBubble(previewComponents(draftOfValues(edited)), previewValues(edited)).body
  }
  expect(shown({ 1: 'Ben', 2: 'B-7' })).toBe('Hello Ben, your order B-7 is on its way to you.')
  expect(shown({ 1: 'Ben' })).toBe('Hello Ben, your order {{2}} is on its way to you.')
})

test('an authentication template has only what people choose, and the text of WhatsApp in its preview', () => {
  const values = {
    ...emptyValues,
    name: 'otp',
    category: 'AUTHENTICATION' as const,
    body: { ...emptyValues.body, text: 'ignored' },
    footer: { text: 'ignored', minutes: '10' },
    buttons: [newButton('OTP', [])],
  }
  const draft = draftOfValues(values)
  expect(draft.components).toEqual([
    { type: 'BODY', add_security_recommendation: true },
    { type: 'FOOTER', code_expiration_minutes: 10 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ])
  expect(checkTemplate(draft)).toEqual([])
  expect(templateBubble(previewComponents(draft), {})).toMatchObject({
    body: '*123456* is your verification code. For your security, do not share this code.',
    footer: 'This code expires in 10 minutes.',
    buttons: [{ text: 'Copy code' }],
  })
})

test('a template that becomes an authentication template and back keeps its buttons', () => {
  const values = valuesOfTemplate(template)
  const code = withCategory(values, 'AUTHENTICATION')
  expect(draftOfValues(code).components.at(-1)).toEqual({
    type: 'BUTTONS',
    buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }],
  })
  expect(draftOfValues(withCategory(code, 'UTILITY'))).toEqual(template)
  const again = withCategory(withCategory(code, 'MARKETING'), 'AUTHENTICATION')
  expect(draftOfValues(again)).toEqual(draftOfValues(code))
})

test('a new variable gets the next free number, or a name among names', () => {
  expect(nextVariable('')).toBe('{{1}}')
  expect(nextVariable('{{1}} and {{3}}')).toBe('{{2}}')
  expect(nextVariable('Hello {{first_name}}')).toBe('{{variable_1}}')
})

test('a template with parts that the editor has no fields for cannot be edited', () => {
  expect(hasOnlyKnownParts(template)).toBe(true)
  expect(
    hasOnlyKnownParts({ ...template, components: [...template.components, { type: 'CAROUSEL', cards: [] }] }),
  ).toBe(false)
  const catalog = { type: 'BUTTONS', buttons: [{ type: 'CATALOG', text: 'View' }] }
  expect(hasOnlyKnownParts({ ...template, components: [template.components[1], catalog] })).toBe(false)
})
