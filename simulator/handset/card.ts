import type { Json } from './json.ts'

/** The common form of templates and interactive messages for rendering. */
export interface Card {
  header?: Header
  body: string
  footer: string
  buttons: CardButton[]
  /** The cards of a carousel. */
  cards: Card[]
}

export type Header =
  | { kind: 'text'; text: string }
  | { kind: 'image' | 'video' | 'document'; file: Json }
  | { kind: 'location'; place: Json }

export type CardButton =
  | { kind: 'reply'; label: string; position: number }
  | { kind: 'url'; label: string; url: string }
  | { kind: 'call'; label: string; number: string }
  | { kind: 'copy'; label: string; code: string }
  | { kind: 'form'; label: string; flow: string; screen: string; data: Json }
  | { kind: 'list'; label: string; sections: Section[] }
  | { kind: 'location' | 'contact'; label: string }
  | { kind: 'permission'; label: string; response: 'accept' | 'reject' }
  | { kind: 'products'; label: string; skus: string[] }
  | { kind: 'disabled'; label: string }

export interface Section {
  title: string
  rows: { title: string; description: string; position: number }[]
}

export const emptyCard = (): Card => ({ body: '', footer: '', buttons: [], cards: [] })
