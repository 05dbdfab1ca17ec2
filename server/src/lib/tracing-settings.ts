import type { TracingSettings } from './tracing.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the variables that OpenTelemetry defines; null without an endpoint. `invalid` must throw. */
export function readTracing(
  env: Environment,
  invalid: (name: string, value: string, advice: string) => never,
): TracingSettings | null {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const endpoint = env[name]
  if (!endpoint) return null
  const advice =
    'Use the URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example http://localhost:4318.'
  if (!URL.canParse(endpoint)) invalid(name, endpoint, advice)
  const { protocol, search, hash } = new URL(endpoint)
  if (!/^https?:$/.test(protocol) || search || hash) invalid(name, endpoint, advice)
  return {
    endpoint,
    headers: readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? '', invalid),
    serviceName: env.OTEL_SERVICE_NAME || 'parley',
    ratio: readRatio(env.OTEL_TRACES_SAMPLER_ARG, invalid),
  }
}

function readHeaders(text: string, invalid: (name: string, value: string, advice: string) => never) {
  const pairs = text.split(',').flatMap((part) => part.trim() || [])
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([\w-]+)=([!-~ ]*)$/.exec(pair) ?? []
      try {
        if (name) return [name.toLowerCase(), decodeURIComponent(value)]
      } catch {
        // Not percent-encoded correctly.
      }
      // The value may be a secret, so the message does not repeat it.
      return invalid('OTEL_EXPORTER_OTLP_HEADERS', '…', 'Use name=value pairs, separated by commas, percent-encoded.')
    }),
  )
}

function readRatio(text: string | undefined, invalid: (name: string, value: string, advice: string) => never): number {
  if (!text) return 1
  const ratio = /^[01](\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  return ratio <= 1 ? ratio : invalid('OTEL_TRACES_SAMPLER_ARG', text, 'Use a number from 0 to 1, such as 0.1.')
}
