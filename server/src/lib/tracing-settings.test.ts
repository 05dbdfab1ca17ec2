import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'

const read = (env: Record<string, string>) => readConfig(env).tracing
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

test('tracing is off without an endpoint', () => {
  expect(read({})).toBeNull()
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER_ARG: 'x' })).toBeNull()
})

test('the variables of OpenTelemetry are read', () => {
  expect(read(endpoint)).toEqual({ endpoint: 'http://localhost:4318', headers: {}, serviceName: 'parley', ratio: 1 })
  const more = {
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team=7',
    OTEL_SERVICE_NAME: 'messages',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  }
  expect(read({ ...endpoint, ...more })).toEqual({
    endpoint: 'http://localhost:4318',
    headers: { authorization: 'Bearer abc', 'x-team': '7' },
    serviceName: 'messages',
    ratio: 0.25,
  })
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://localhost:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ ...endpoint, OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
  [{ ...endpoint, OTEL_TRACES_SAMPLER_ARG: 'all' }, 'OTEL_TRACES_SAMPLER_ARG'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
])('%o is refused with one line', (env, name) => {
  expect(() => read(env as Record<string, string>)).toThrow(new RegExp(`^Invalid ${name}: `))
  expect(() => read(env as Record<string, string>)).not.toThrow(/secret|%zz/)
})
