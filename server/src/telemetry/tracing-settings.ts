import type { TracingSettings } from './tracing.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Invalid = (name: string, value: string, advice: string) => never

/** Reads the variables that OpenTelemetry defines; null without an endpoint. `invalid` must throw. */
export function readTracing(env: Environment, invalid: Invalid): TracingSettings | null {
  const url = readUrl(env, invalid)
  if (url === null || isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER === 'none') return null
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/json'
  // A collector accepts JSON where it accepts Protocol Buffers over HTTP.
  if (!/^http\/(json|protobuf)$/.test(protocol)) {
    invalid(
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      protocol,
      'Use http/json, and the port of the collector for HTTP, usually 4318.',
    )
  }
  const headers = env.OTEL_EXPORTER_OTLP_TRACES_HEADERS || env.OTEL_EXPORTER_OTLP_HEADERS
  const { 'service.name': named, ...resource } = readPairs(
    'OTEL_RESOURCE_ATTRIBUTES',
    env.OTEL_RESOURCE_ATTRIBUTES,
    invalid,
  )
  return {
    url,
    headers: lowerCase(readPairs('OTEL_EXPORTER_OTLP_HEADERS', headers, invalid)),
    serviceName: env.OTEL_SERVICE_NAME || named || 'parley',
    resource,
    ratio: readRatio(env, invalid),
  }
}

const isTrue = (text = ''): boolean => text.toLowerCase() === 'true'

/** The variable for traces has the whole URL, the one for all signals only its beginning. */
function readUrl(env: Environment, invalid: Invalid): string | null {
  const name = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    : 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const endpoint = env[name]
  if (!endpoint) return null
  const advice =
    'Use the URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example http://localhost:4318.'
  if (!URL.canParse(endpoint)) invalid(name, endpoint, advice)
  const { protocol, search, hash } = new URL(endpoint)
  if (!/^https?:$/.test(protocol) || search || hash) invalid(name, endpoint, advice)
  return name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${endpoint.replace(/\/+$/, '')}/v1/traces` : endpoint
}

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function readPairs(variable: string, text = '', invalid: Invalid): Record<string, string> {
  const pairs = text.split(',').flatMap((part) => part.trim() || [])
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([\w.-]+)\s*=\s*([!-~ ]*)$/.exec(pair) ?? []
      try {
        if (name) return [name, decodeURIComponent(value)]
      } catch {
        // Not percent-encoded correctly.
      }
      // The value may be a secret, so the message does not repeat it.
      return invalid(variable, '…', 'Use name=value pairs, separated by commas, percent-encoded.')
    }),
  )
}

/** A client that sends a trace decides about it, so every sampler asks the parent first. */
function readRatio(env: Environment, invalid: Invalid): number {
  const { OTEL_TRACES_SAMPLER: sampler = '', OTEL_TRACES_SAMPLER_ARG: text } = env
  if (/^(parentbased_)?always_off$/.test(sampler)) return 0
  if (/^(parentbased_)?always_on$/.test(sampler)) return 1
  if (!/^((parentbased_)?traceidratio)?$/.test(sampler)) {
    invalid('OTEL_TRACES_SAMPLER', sampler, 'Use always_on, always_off or traceidratio.')
  }
  if (!text) return 1
  const ratio = /^[01](\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  return ratio <= 1 ? ratio : invalid('OTEL_TRACES_SAMPLER_ARG', text, 'Use a number from 0 to 1, such as 0.1.')
}
