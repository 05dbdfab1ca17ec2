import { expect, test } from 'vitest'
import { fixture } from '../../../testing/fixtures.ts'
import { checkVariables } from './check-variables.ts'
import type { NetworkTemplate } from './variables.ts'

const templates = (fixture('own/api-message-templates-list.json') as { data: NetworkTemplate[] }).data
const named = (name: string) => templates.find((template) => template.name === name) as NetworkTemplate

const good: Record<string, Record<string, unknown>> = {
  appointment_reminder: { 'header.1': 'Ana', 'body.1': 'Mon', 'body.2': '10:00', 'buttons.2.url': 'x' },
  order_update: { 'header.image': { id: '1' }, 'body.first_name': 'Ana', 'body.order_id': 'A1' },
  coupon: { 'buttons.0.code': '25OFF' },
  otp_login: { 'body.1': '123456' },
  delivery_map: { 'header.location': { latitude: 0, longitude: 0 }, 'body.1': 'Ana' },
}

function errors(name: string, change: Record<string, unknown>): string[] {
  const merged = Object.entries({ ...good[name], ...change }).filter(([, value]) => value !== undefined)
  return checkVariables(named(name), { name, language: 'en', variables: Object.fromEntries(merged) }).map(
    ({ param, code }) => `${param.replace('template.variables', '')} ${code}`,
  )
}

const currency = (change = {}) => ({
  currency: { fallback_value: '€10.50', code: 'EUR', amount_1000: 10_500, ...change },
})
const calendar = {
  fallback_value: 'February 25, 1977',
  day_of_week: 5,
  year: 1977,
  month: 2,
  day_of_month: 25,
  hour: 15,
  minute: 33,
  calendar: 'GREGORIAN',
}
const dateTime = (fallback_value: string) => ({ date_time: { fallback_value } })

test.each(Object.keys(good))('%s with all variables has no errors', (name) => {
  expect(errors(name, {})).toEqual([])
})

test.each<[string, Record<string, unknown>, string[]]>([
  ['appointment_reminder', { 'header.1': undefined, 'body.2': undefined }, ['.header.1 missing', '.body.2 missing']],
  ['appointment_reminder', { 'body.3': 'x', 'footer.1': 'x' }, ['.body.3 unknown', '.footer.1 unknown']],
  ['appointment_reminder', { 'body.1': undefined, 'body.one': 'x' }, ['.body.1 missing', '.body.one unknown']],
  ['appointment_reminder', { 'body.1': 5 }, ['.body.1 wrong_type']],
  ['appointment_reminder', { 'body.1': null }, ['.body.1 wrong_type']],
  ['appointment_reminder', { 'body.1': ' ' }, ['.body.1 too_short']],
  ['appointment_reminder', { 'body.1': 'a\nb', 'body.2': 'a\tb' }, ['.body.1 line_break', '.body.2 line_break']],
  ['appointment_reminder', { 'body.1': 'a     b' }, ['.body.1 line_break']],
  ['appointment_reminder', { 'body.1': 'a    b' }, []],
  ['appointment_reminder', { 'header.1': 'x'.repeat(61) }, ['.header.1 too_long', ' too_long']],
  ['appointment_reminder', { 'body.1': 'x'.repeat(1024) }, [' too_long']],
  ['appointment_reminder', { 'buttons.0.payload': 'yes' }, []],
  ['appointment_reminder', { 'header.1': dateTime('3 May'), 'body.1': currency() }, []],
  ['appointment_reminder', { 'body.1': { date_time: calendar } }, []],
  ['appointment_reminder', { 'body.1': { date_time: { ...calendar, day_of_week: 'FRIDAY' } } }, []],
  [
    'appointment_reminder',
    { 'body.1': { date_time: { ...calendar, month: 13, hour: '15', minute: 0.5, calendar: 'MAYAN', timezone: 1 } } },
    [
      '.body.1.date_time.month out_of_range',
      '.body.1.date_time.hour wrong_type',
      '.body.1.date_time.minute wrong_type',
      '.body.1.date_time.calendar invalid',
      '.body.1.date_time.timezone unknown',
    ],
  ],
  [
    'appointment_reminder',
    { 'body.1': { date_time: { ...calendar, day_of_week: ['FRIDAY'], calendar: ['GREGORIAN'] } } },
    ['.body.1.date_time.day_of_week wrong_type', '.body.1.date_time.calendar invalid'],
  ],
  ['appointment_reminder', { 'body.1': currency({ year: 1977 }) }, ['.body.1.currency.year unknown']],
  ['appointment_reminder', { 'body.1': {} }, ['.body.1 invalid']],
  ['appointment_reminder', { 'body.1': { ...currency(), ...dateTime('3 May') } }, ['.body.1 invalid']],
  [
    'appointment_reminder',
    { 'body.1': { currency: {} }, 'body.2': { date_time: { day: 3 } } },
    [
      '.body.1.currency.fallback_value missing',
      '.body.1.currency.code missing',
      '.body.1.currency.amount_1000 missing',
      '.body.2.date_time.fallback_value missing',
      '.body.2.date_time.day unknown',
    ],
  ],
  [
    'appointment_reminder',
    { 'body.1': currency({ code: 'eur', amount_1000: 1.5, fallback_value: 'a\nb' }) },
    [
      '.body.1.currency.fallback_value line_break',
      '.body.1.currency.code invalid',
      '.body.1.currency.amount_1000 wrong_type',
    ],
  ],
  ['appointment_reminder', { 'body.1': dateTime('x'.repeat(1024)) }, [' too_long']],
  ['appointment_reminder', { 'buttons.2.url': currency() }, ['.buttons.2.url wrong_type']],
  ['otp_login', { 'body.1': currency() }, ['.body.1 wrong_type']],
  ['appointment_reminder', { 'buttons.3.payload': 'yes' }, ['.buttons.3.payload unknown']],
  ['order_update', { 'header.image': 'https://cdn.example/a.png' }, []],
  ['order_update', { 'header.image': 'ftp://cdn.example/a.png' }, ['.header.image invalid']],
  ['order_update', { 'header.image': {} }, ['.header.image invalid']],
  ['order_update', { 'header.image': { id: '1', link: 'https://x.example' } }, ['.header.image invalid']],
  ['order_update', { 'header.image': { id: '1', filename: 'x' } }, ['.header.image.filename unknown']],
  ['order_update', { 'header.image': { link: 'no link' } }, ['.header.image.link invalid']],
  ['coupon', { 'buttons.0.code': 'x'.repeat(21) }, ['.buttons.0.code too_long']],
  ['otp_login', { 'body.1': '1'.repeat(16) }, ['.body.1 too_long']],
  ['otp_login', { 'body.1': undefined }, ['.body.1 missing']],
  ['otp_login', { 'buttons.0.url': '123456' }, ['.buttons.0.url unknown']],
  ['delivery_map', { 'header.location': { latitude: 91, longitude: 0 } }, ['.header.location.latitude out_of_range']],
  [
    'delivery_map',
    { 'header.location': { longitude: true } },
    ['.header.location.latitude missing', '.header.location.longitude wrong_type'],
  ],
  ['delivery_map', { 'header.location': { latitude: '37.44', longitude: '-122.16' } }, []],
  ['delivery_map', { 'header.location': { latitude: '91', longitude: 0 } }, ['.header.location.latitude out_of_range']],
  ['delivery_map', { 'header.location': { latitude: '0x1', longitude: 0 } }, ['.header.location.latitude invalid']],
  ['delivery_map', { 'header.location': { latitude: 0, longitude: 0, zoom: 'x' } }, ['.header.location.zoom unknown']],
])('%s with %j', (name, change, expected) => {
  expect(errors(name, change)).toEqual(expected)
})

test('flow is only allowed for a template with a form button', () => {
  const flow = { token: 't' }
  expect(checkVariables(named('intake_flow'), { flow })).toEqual([])
  expect(checkVariables(named('coupon'), { variables: good.coupon ?? {}, flow })).toMatchObject([
    { param: 'template.flow', code: 'unknown' },
  ])
})

test('names of built-in properties are unknown variables', () => {
  expect(errors('coupon', { constructor: 'x', toString: 'x' })).toEqual(['.constructor unknown', '.toString unknown'])
})
