import type { TemplateVariable } from '@parley/contract/template'
import { Textarea, TextInput } from '../../ui/fields.tsx'
import { Grid } from '../../ui/layout.tsx'
import { isObject, type Values } from './values.ts'

interface Props {
  variables: readonly TemplateVariable[]
  values: Values
  onChange: (values: Values) => void
}

/** A field for each variable, under the key the API takes it by. */
export function VariableFields({ variables, values, onChange }: Props) {
  if (variables.length === 0) return <span className="quiet">This template has no variables; it is sent as it is.</span>
  return (
    <Grid min={240}>
      {variables.map(({ key, type, required }) => {
        const shared = {
          label: <span className="mono">{key}</span>,
          description: hints[type] ?? type,
          value: values[key] ?? '',
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
  text: 'Text of one line',
  image: 'https link to a picture',
  video: 'https link to a video',
  gif: 'https link to a video without sound',
  document: 'https link to a document',
  timestamp: 'A time, such as 2026-12-24T18:00:00Z',
  location: 'A place, as JSON',
  product: 'A product, as JSON',
  products: 'Products, as JSON',
}
