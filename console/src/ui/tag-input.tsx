import { Pill, PillsInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'

interface TagInputProps {
  label: string
  description?: ReactNode
  placeholder?: string
  value: readonly string[]
  onChange: (value: string[]) => void
  /** Returns the error of a tag, or null. Called when it is added. */
  check?: (word: string) => string | null
  error?: ReactNode
  max?: number
}

/** Several tags. Enter, comma, space or leaving the field adds one and checks it. A pasted list is split. */
export function TagInput({
  label,
  description,
  placeholder,
  value,
  onChange,
  check = () => null,
  error,
  max = 100,
}: TagInputProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const add = (raw: string) => {
    const words = raw.split(/[\s,;]+/).filter(Boolean)
    const next = [...value]
    for (const word of words) {
      const message = next.length >= max ? `You can add at most ${max}.` : check(word)
      if (message) {
        setText(word)
        setProblem(message)
        onChange(next)
        return
      }
      if (!next.includes(word)) next.push(word)
    }
    setText('')
    setProblem(null)
    if (words.length > 0) onChange(next)
  }
  return (
    <PillsInput label={label} description={description} error={problem ?? error}>
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
          onChange={(event) => {
            setText(event.currentTarget.value)
            setProblem(null)
          }}
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
