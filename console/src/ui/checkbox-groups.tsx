import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './checkbox-groups.module.css'

interface Choice {
  value: string
  /** In monospace, because it is a value of the API. */
  title: string
  detail?: string
  disabled?: boolean
}

interface CheckboxGroupsProps {
  label: string
  description?: ReactNode
  groups: readonly { title: string; choices: readonly Choice[] }[]
  value: readonly string[]
  onChange: (value: string[]) => void
  /** Buttons that select a common set. */
  presets?: readonly { title: string; value: readonly string[] }[]
  error?: string | undefined
}

/** Checkboxes in groups, with a checkbox for each whole group: scopes, events. */
export function CheckboxGroups({
  label,
  description,
  groups,
  value,
  onChange,
  presets = [],
  error,
}: CheckboxGroupsProps) {
  const chosen = new Set(value)
  const order = groups.flatMap(({ choices }) => choices.map((choice) => choice.value))
  // Checkbox.Group controls every checkbox inside it, so its value must include the checkboxes for whole groups.
  const full = groups
    .filter(({ choices }) => choices.every((choice) => choice.disabled || chosen.has(choice.value)))
    .map(({ title }) => `all of ${title}`)
  const change = (next: Set<string>) => onChange(order.filter((word) => next.has(word)))
  return (
    <Checkbox.Group label={label} description={description} error={error} value={[...value, ...full]}>
      {presets.length > 0 && (
        <div className={styles.presets}>
          {presets.map((preset) => (
            <button
              key={preset.title}
              type="button"
              className={styles.preset}
              aria-pressed={preset.value.length === chosen.size && preset.value.every((word) => chosen.has(word))}
              onClick={() => change(new Set(preset.value))}
            >
              {preset.title}
            </button>
          ))}
        </div>
      )}
      <div className={styles.groups}>
        {groups.map(({ title, choices }) => {
          const open = choices.filter((choice) => !choice.disabled).map((choice) => choice.value)
          const count = open.filter((word) => chosen.has(word)).length
          return (
            <fieldset key={title} className={styles.group}>
              <legend className="unseen">{title}</legend>
              <div className={styles.head}>
                <Checkbox
                  size="xs"
                  label={title}
                  value={`all of ${title}`}
                  checked={open.length > 0 && count === open.length}
                  indeterminate={count > 0 && count < open.length}
                  onChange={() =>
                    change(count === open.length ? chosen.difference(new Set(open)) : chosen.union(new Set(open)))
                  }
                />
              </div>
              {choices.map((choice) => (
                <Checkbox
                  key={choice.value}
                  size="xs"
                  value={choice.value}
                  checked={chosen.has(choice.value)}
                  disabled={choice.disabled ?? false}
                  label={<span className="mono">{choice.title}</span>}
                  description={choice.detail}
                  onChange={() => change(chosen.symmetricDifference(new Set([choice.value])))}
                />
              ))}
            </fieldset>
          )
        })}
      </div>
    </Checkbox.Group>
  )
}
