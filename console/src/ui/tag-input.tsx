import { Pill, PillsInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'

interface TagInputProps {
  label: string
  description?: ReactNode
  placeholder?: string
  value: readonly string[]
  onChange: (value: string[]) => void
  /** An invalid tag is added too, so that a form cannot be submitted without it. */
  error?: ReactNode
}

/** Several tags. Enter, comma, space or leaving the field adds one. A pasted list is split. */
export function TagInput({ label, description, placeholder, value, onChange, error }: TagInputProps) {
  const [text, setText] = useState('')
  const add = (raw: string) => {
    const words = raw.split(/[\s,;]+/).filter(Boolean)
    setText('')
    if (words.length > 0) onChange([...new Set([...value, ...words])])
  }
  return (
    <PillsInput label={label} description={description} error={error}>
      <Pill.Group>
        {value.map((word) => (
          <Pill
            key={word}
            withRemoveButton
            removeButtonProps={{ 'aria-label': `Remove ${word}`, 'aria-hidden': false, tabIndex: 0 }}
            onRemove={() => onChange(value.filter((each) => each !== word))}
          >
            <span className="mono">{word}</span>
          </Pill>
        ))}
        <PillsInput.Field
          value={text}
          placeholder={value.length === 0 ? placeholder : undefined}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === ',' || event.key === ' ') {
              if (text || event.key !== 'Enter') event.preventDefault()
              add(text)
            } else if (event.key === 'Backspace' && text === '') onChange(value.slice(0, -1))
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text')
            if (!/[\s,;]/.test(pasted.trim())) return
            event.preventDefault()
            add(text + pasted)
          }}
          onBlur={() => text && add(text)}
        />
      </Pill.Group>
    </PillsInput>
  )
}
