import { NumberInput } from '../ui/fields.tsx'

interface LowBalanceInputProps {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}

/** The balance at which the console warns a workspace. */
export const LowBalanceInput = (props: LowBalanceInputProps) => (
  <NumberInput
    label="Warn when the balance is at or below"
    description="In credits. Everyone in this workspace then sees a warning on every page. Enter 0 to turn it off."
    min={0}
    max={1_000_000_000}
    allowDecimal={false}
    allowNegative={false}
    thousandSeparator=","
    data-autofocus
    {...props}
  />
)

export const lowBalanceError = (value: number | string) =>
  typeof value === 'number' ? undefined : 'Enter a whole number, or 0 to turn the warning off.'
