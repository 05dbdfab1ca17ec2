import { styleText } from 'node:util'

type Look = 'bold' | 'dim' | 'red' | 'yellow' | 'green'

/** Styles text for a terminal. Files, pipes and NO_COLOR get plain text. */
export const styled = (look: Look, text: string): string => styleText(look, text, { stream: process.stdout })
