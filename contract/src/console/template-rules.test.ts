import { expect, test } from 'vitest'
import { type ComponentDraft, draftOf, exampleFor, examplesOf, type TemplateDraft } from './template-draft.ts'
import { rejectedPart, rejectionOf } from './template-review.ts'
import { checkTemplate } from './template-rules.ts'

const body = (text: string, values: Record<string, string> = { 1: 'Ana', 2: 'Monday' }): ComponentDraft => {
  const example = exampleFor('body', text, values)
  return { type: 'BODY', text, ...(example && { example }) }
}
const plain = body('Your order is ready.')
const buttons = (...some: unknown[]) => ({ type: 'BUTTONS', buttons: some }) as ComponentDraft
const header = (text: string, more = {}) => ({ type: 'HEADER', format: 'TEXT', text, ...more }) as ComponentDraft
const quick = { type: 'QUICK_REPLY', text: 'Confirm' }
const url = (address: string, more = {}) => ({ type: 'URL', text: 'Open', url: address, ...more })
const phone = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550780001' }

const draft = (components: unknown[], more: Partial<TemplateDraft> = {}): TemplateDraft => ({
  name: 'order_ready',
  language: 'en_US',
  category: 'UTILITY',
  components: components as ComponentDraft[],
  ...more,
})
const code = (components: unknown[]) => draft(components, { category: 'AUTHENTICATION' })
const otp = buttons({ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' })

test.each<[string, TemplateDraft]>([
  ['a body', draft([plain])],
  ['numbered variables, one of them twice', draft([body('Hi {{1}}, see you on {{2}} then, dear {{1}}, at noon.')])],
  ['named variables', draft([body('Hi {{first_name}}, your order is ready.', { first_name: 'Ana' })])],
  ['a body in a script without spaces', draft([body('您好{{1}}，您的订单已准备好。')])],
  ['an example of Meta', draft([body('Thank you, {{1}}! Your order number is {{2}}.')])],
  ['a header with a variable', draft([header('Hi {{1}}', { example: { header_text: ['Ana'] } }), plain])],
  ['an image', draft([{ type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::aW'] } }, plain])],
  ['a location', draft([{ type: 'HEADER', format: 'LOCATION' }, plain])],
  ['quick replies before other buttons', draft([plain, buttons(quick, quick, url('https://a.example/'), phone)])],
  ['a form', draft([plain, buttons({ type: 'FLOW', text: 'Fill in', flow_id: '800000000000001' })])],
  ['a code to copy', draft([plain, buttons({ type: 'COPY_CODE', example: 'SUMMER25' })])],
  ['a one-time code', code([{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 10 }, otp])],
])('%s is allowed', (_name, allowed) => {
  expect(checkTemplate(allowed)).toEqual([])
})

const variableUrl = 'https://a.example/o/{{1}}'

test.each<[string, TemplateDraft, string, RegExp]>([
  ['an empty name', draft([plain], { name: '' }), 'name', /Enter a name/],
  ['capitals in the name', draft([plain], { name: 'Order' }), 'name', /lower-case/],
  ['a long name', draft([plain], { name: 'a'.repeat(513) }), 'name', /512/],
  ['an unknown language', draft([plain], { language: 'english' }), 'language', /en_US/],
  ['an unknown category', draft([plain], { category: 'NEWS' as 'UTILITY' }), 'category', /MARKETING, UTILITY/],
  ['no body', draft([header('Hello')]), 'body.text', /Enter the text of the body/],
  ['an empty body', draft([body(' ')]), 'body.text', /Enter the text of the body/],
  ['two bodies', draft([plain, plain]), 'body', /only one part of type BODY/],
  ['a carousel', draft([plain, { type: 'CAROUSEL' }]), 'components', /CAROUSEL.*WhatsApp Manager/],
  ['a long body', draft([body('a'.repeat(1025))]), 'body.text', /1024/],
  ['a variable first', draft([body('{{1}}, your order is ready.')]), 'body.text', /before the first variable/],
  ['a variable last', draft([body('Your order is ready, {{1}}')]), 'body.text', /after the last variable/],
  ['adjacent variables', draft([body('Hi {{1}} {{2}}, your order is ready now.')]), 'body.text', /between variables/],
  ['too many variables', draft([body('Hi {{1}}, gate {{2}}. Thank you.')]), 'body.text', /at least 5 words/],
  ['a gap', draft([body('Hi {{1}}, see you at {{3}} then.', { 1: 'a', 3: 'b' })]), 'body.text', /without gaps/],
  ['zero', draft([body('Hi {{0}}, see you then.', { 0: 'a' })]), 'body.text', /from \{\{1\}\}/],
  ['mixed variables', draft([body('Hi {{1}}, see {{day}} you then.', { day: 'a' })]), 'body.text', /Number all/],
  ['capitals in a variable', draft([body('Hi {{Name}}, it is ready.', { Name: 'a' })]), 'body.text', /\{\{Name\}\}/],
  ['broken braces', draft([body('Hi {{1}, your order is ready.')]), 'body.text', /two braces/],
  ['other characters', draft([body('Hi {{a-b}}, your order is ready.')]), 'body.text', /two braces/],
  ['no example', draft([body('Hi {{1}}, it is ready.', {})]), 'body.example.1', /Enter an example for \{\{1\}\}/],
  ['a long header', draft([header('a'.repeat(61)), plain]), 'header.text', /60/],
  ['two variables in the header', draft([header('{{1}} and {{2}}'), plain]), 'header.text', /only one/],
  ['no example in the header', draft([header('Hi {{1}}'), plain]), 'header.example.1', /example/],
  ['emoji in the header', draft([header('Ready 🎉'), plain]), 'header.text', /emoji/],
  ['an unknown header', draft([{ type: 'HEADER', format: 'AUDIO' }, plain]), 'header.format', /TEXT, IMAGE/],
  ['no sample', draft([{ type: 'HEADER', format: 'VIDEO' }, plain]), 'header.example', /sample video/],
  ['an empty footer', draft([plain, { type: 'FOOTER', text: '' }]), 'footer.text', /remove the footer/],
  ['a long footer', draft([plain, { type: 'FOOTER', text: 'a'.repeat(61) }]), 'footer.text', /60/],
  ['a variable in the footer', draft([plain, { type: 'FOOTER', text: 'Hi {{1}}' }]), 'footer.text', /variables/],
  ['no buttons', draft([plain, buttons()]), 'buttons', /Add a button/],
  ['eleven buttons', draft([plain, buttons(...Array(11).fill(quick))]), 'buttons', /at most 10\./],
  ['three URLs', draft([plain, buttons(...Array(3).fill(url('https://a.example')))]), 'buttons', /2 URL buttons/],
  ['two phones', draft([plain, buttons(phone, phone)]), 'buttons', /1 phone-number button/],
  ['divided quick replies', draft([plain, buttons(quick, phone, quick)]), 'buttons', /next to each other/],
  ['a button without text', draft([plain, buttons({ type: 'QUICK_REPLY' })]), 'buttons.0.text', /Enter the text/],
  ['a long button', draft([plain, buttons({ ...quick, text: 'a'.repeat(26) })]), 'buttons.0.text', /25/],
  ['a variable in a button', draft([plain, buttons({ ...quick, text: 'Hi {{1}}' })]), 'buttons.0.text', /variable/],
  ['an unknown button', draft([plain, buttons({ type: 'DANCE', text: 'a' })]), 'buttons.0.type', /QUICK_REPLY, URL/],
  ['a code button', draft([plain, otp]), 'buttons.0.type', /another kind/],
  ['half a URL', draft([plain, buttons(url('shop.example'))]), 'buttons.0.url', /whole URL/],
  ['a long URL', draft([plain, buttons(url(`https://a.example/${'a'.repeat(2000)}`))]), 'buttons.0.url', /2000/],
  ['a URL variable within', draft([plain, buttons(url(`${variableUrl}/x`))]), 'buttons.0.url', /at the end/],
  ['no example of a URL', draft([plain, buttons(url(variableUrl))]), 'buttons.0.example', /example/],
  ['no phone number', draft([plain, buttons({ ...phone, phone_number: 'x' })]), 'buttons.0.phone_number', /country/],
  [
    'a long number',
    draft([plain, buttons({ ...phone, phone_number: '1'.repeat(21) })]),
    'buttons.0.phone_number',
    /20/,
  ],
  ['no code', draft([plain, buttons({ type: 'COPY_CODE' })]), 'buttons.0.example', /15/],
  ['no form', draft([plain, buttons({ type: 'FLOW', text: 'Fill in' })]), 'buttons.0.flow_id', /form/],
  ['a code with a header', code([header('Hi'), { type: 'BODY' }, otp]), 'header', /Remove the header/],
  ['a code with a text', code([plain, otp]), 'body.text', /WhatsApp writes/],
  ['a code with a footer', code([{ type: 'BODY' }, { type: 'FOOTER', text: 'a' }, otp]), 'footer.text', /minutes/],
  [
    'a code for hours',
    code([{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 91 }, otp]),
    'footer.code_expiration_minutes',
    /1 to 90/,
  ],
  ['a code without a button', code([{ type: 'BODY' }]), 'buttons', /OTP/],
  [
    'one tap without an app',
    code([{ type: 'BODY' }, buttons({ type: 'OTP', otp_type: 'ONE_TAP' })]),
    'buttons.0.supported_apps',
    /package name/,
  ],
])('%s is a problem', (_name, refused, path, message) => {
  const found = checkTemplate(refused)
  expect(found).toContainEqual({ path, message: expect.stringMatching(message) })
})

test('several problems are found at once, and values of a wrong type are no error', () => {
  const wrong = draft([{ type: 'BODY', text: 5 }, { type: 'BUTTONS', buttons: 'x' }, null, 'y'], { name: 'A' })
  expect(checkTemplate(wrong).map(({ path }) => path)).toEqual([
    'name',
    'components',
    'components',
    'body.text',
    'buttons',
  ])
})

test('examples are written and read in the shape of WhatsApp', () => {
  const values = { 1: 'Ana', 2: 'Monday' }
  const numbered = exampleFor('body', 'Hi {{2}}, {{1}}', values)
  expect(numbered).toEqual({ body_text: [['Ana', 'Monday']] })
  expect(examplesOf('body', { example: numbered })).toEqual(values)
  const named = exampleFor('header', 'Hi {{first_name}}', { first_name: 'Ana' })
  expect(named).toEqual({ header_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] })
  expect(examplesOf('header', { example: named })).toEqual({ first_name: 'Ana' })
  expect(exampleFor('body', 'Hi', {})).toBeUndefined()
})

test('an authentication template is edited by what people choose', () => {
  const address = 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}'
  const stored = code([
    { type: 'BODY', text: '*{{1}}* is your verification code.', add_security_recommendation: true },
    { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Copy code', url: address }] },
  ])
  expect(draftOf(stored).components).toEqual([
    { type: 'BODY', add_security_recommendation: true },
    { type: 'FOOTER', code_expiration_minutes: 5 },
    otp,
  ])
  expect(checkTemplate(draftOf(stored))).toEqual([])
})

const rejected = (components: ComponentDraft[], rejected_reason: string | null, reason: string | null = null) => ({
  ...draft(components),
  status: 'REJECTED',
  rejected_reason,
  status_info: reason === null ? null : { reason, recommendation: null },
})
const footer: ComponentDraft = { type: 'FOOTER', text: 'Clinic' }

test.each([
  ['the category', rejected([plain, footer], 'TAG_CONTENT_MISMATCH'), 'category'],
  ['what our rules find', rejected([plain, header('a*b')], 'INVALID_FORMAT'), 'header'],
  ['what WhatsApp names', rejected([plain, footer], 'INVALID_FORMAT', 'The footer is misleading.'), 'footer'],
  [
    'the one with variables',
    rejected(
      [body('Hi {{1}}, it is ready.'), footer],
      'INVALID_FORMAT',
      'Your template has parameters that are unclear.',
    ),
    'body',
  ],
  ['the only part', rejected([plain], 'ABUSIVE_CONTENT'), 'body'],
  ['nothing, if nobody says it', rejected([plain, footer], 'SCAM', 'It looks like a scam.'), null],
  ['nothing that the template lacks', rejected([plain, footer], 'SCAM', 'Buttons are confusing.'), null],
  ['nothing, if it is approved', { ...rejected([plain], null), status: 'APPROVED' }, null],
])('the rejected part is %s', (_name, template, part) => {
  expect(rejectedPart(template)).toBe(part)
})

test('a rejection is told in WhatsApp’s words, else in ours', () => {
  expect(rejectionOf(rejected([plain], 'SCAM', 'The link is unsafe.'))).toMatchObject({
    reason: 'The link is unsafe.',
    remedy: expect.stringContaining('your own website'),
  })
  expect(rejectionOf(rejected([plain], 'INVALID_FORMAT'))?.reason).toBe('The format of the template is not valid.')
  expect(rejectionOf(rejected([plain], 'NEW_CODE'))?.reason).toBe('WhatsApp’s reason: NEW_CODE.')
  expect(rejectionOf(rejected([plain], null))?.reason).toBe('WhatsApp gave no reason.')
  expect(rejectionOf({ ...rejected([plain], null), status: 'PENDING' })).toBeNull()
})
