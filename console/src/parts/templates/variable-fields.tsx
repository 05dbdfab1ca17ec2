import type { TemplateVariable } from '@parley/contract/template'
import { Textarea, TextInput } from '../../ui/fields.tsx'
import { Grid } from '../../ui/layout.tsx'
import { isObject, type Values } from './values.ts'

interface Props {
  variables: readonly TemplateVariable[]
  values: Values
  onChange: (values: Values) => void
  /** By key. */
  errors?: Readonly<Record<string, string>>
  /** As placeholders. */
  showsExamples?: boolean
}

/** A field for each variable, labeled with its API key. */
export function VariableFields({ variables, values, onChange, errors = {}, showsExamples = false }: Props) {
  if (variables.length === 0) return <span className="quiet">This template has no variables.</span>
  return (
    <Grid min={240}>
      {variables.map(({ key, type, required, example }) => {
        const shared = {
          label: <span className="mono">{key}</span>,
          description: hints[type] ?? type,
          value: values[key] ?? '',
          error: errors[key],
          placeholder: showsExamples && example ? `For example: ${example}` : undefined,
          required,
          withAsterisk: required,
          autoComplete: 'off',
          spellCheck: false,
        }
        const set = (value: string) => onChange({ ...values, [key]: value })
        return isObject(type) ? (
          <Textarea key={key} {...shared} autosize minRows={2} onChange={(event) => set(event.currentTarget.value)} />
        ) : (
          <TextInput key={key} {...shared} onChange={(event) => set(event.currentTarget.value)} />
        )
      })}
    </Grid>
  )
}

const hints: Readonly<Record<string, string>> = {
  text: 'Single line of text',
  image: 'HTTPS URL of an image',
  video: 'HTTPS URL of a video',
  gif: 'HTTPS URL of a video without sound',
  document: 'HTTPS URL of a document',
  timestamp: 'ISO 8601 time, such as 2026-12-24T18:00:00Z',
  location: 'Location as JSON',
  product: 'Product as JSON',
  products: 'Products as JSON',
}
