import { styleText } from 'node:util'

type Look = 'bold' | 'dim' | 'red' | 'yellow' | 'green'

/** Colour for people at a terminal: none into a file or a pipe, and none where NO_COLOR is set. */
export const styled = (look: Look, text: string): string => styleText(look, text, { stream: process.stdout })
