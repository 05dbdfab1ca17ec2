import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'

const read = (env: Record<string, string>) => readConfig(env).tracing
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

test('tracing is off without an endpoint', () => {
  expect(read({})).toBeNull()
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER_ARG: 'x' })).toBeNull()
  expect(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull()
  expect(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull()
})

test('the variables of OpenTelemetry are read', () => {
  const url = 'http://localhost:4318/v1/traces'
  expect(read(endpoint)).toEqual({ url, headers: {}, resource: {}, serviceName: 'parley', ratio: 1 })
  const more = {
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team=7',
    OTEL_SERVICE_NAME: 'messages',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=pro%64',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  }
  expect(read({ ...endpoint, ...more })).toEqual({
    url,
    resource: { 'deployment.environment.name': 'prod' },
    headers: { authorization: 'Bearer abc', 'x-team': '7' },
    serviceName: 'messages',
    ratio: 0.25,
  })
})

test('the endpoint of traces is used as it is, that of all signals with /v1/traces', () => {
  const urls = ['http://a:4318/', 'https://a/otlp'].map((url) => read({ OTEL_EXPORTER_OTLP_ENDPOINT: url })?.url)
  expect(urls).toEqual(['http://a:4318/v1/traces', 'https://a/otlp/v1/traces'])
  expect(read({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/in' })?.url).toBe('https://b/in')
})

test.each([
  ['always_on', 1],
  ['parentbased_always_off', 0],
  ['traceidratio', 0.5],
  ['parentbased_traceidratio', 0.5],
])('the sampler %s records %d of the traces', (sampler, ratio) => {
  expect(read({ ...endpoint, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.5' })?.ratio).toBe(ratio)
})

test.each([
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  [{ ...endpoint, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  [{ ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'secret' }, 'OTEL_RESOURCE_ATTRIBUTES'],
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
