/**
 * The templates of a workspace, for the compiler. `parley types` writes a file that adds them to `KnownTemplates`; from then on
 * `messages.send` accepts only these names and languages, each with its own variables.
 */
import type { SendTemplate } from './contract.ts'

/** Template → language → its variables, and whether a button opens a form. Empty without the file of `parley types`. */
// biome-ignore lint/suspicious/noEmptyInterface: a generated file adds the members
export interface KnownTemplates {}

/** The value of a text variable in the header or the body. WhatsApp writes an amount or a date in the recipient's language. */
export type Text =
  | string
  | { currency: { fallback_value: string; code: string; amount_1000: number } }
  | {
      date_time: {
        fallback_value: string
        day_of_week?: number | string
        year?: number
        month?: number
        day_of_month?: number
        hour?: number
        minute?: number
        calendar?: string
      }
    }
/** The value of an image, a video or a GIF: a link, or the ID of an uploaded file. */
export type File = string | { link: string; id?: never } | { id: string; link?: never }
export type Document =
  | string
  | { link: string; id?: never; filename?: string }
  | { id: string; link?: never; filename?: string }
export interface Location {
  latitude: number | string
  longitude: number | string
  name?: string
  address?: string
}
export interface Product {
  catalog_id: string
  product_retailer_id: string
}
export interface Products {
  thumbnail_product_retailer_id: string
  sections: { title: string; product_retailer_ids: string[] }[]
}

/** Variables that every template with such a button accepts. */
type ButtonVariables = {
  [key in `${'' | `cards.${number}.`}buttons.${number}.${'payload' | 'thumbnail'}`]?: string
}

type Variables<Known> = Known extends { variables: infer Own }
  ? Record<never, never> extends Own
    ? { variables?: Own & ButtonVariables }
    : { variables: Own & ButtonVariables }
  : never

type Flow<Known> = Known extends { flow: true } ? Pick<SendTemplate, 'flow'> : { flow?: never }

type ByName<Name, Language, Known> = { name: Name; language: Language; id?: never } & Variables<Known> & Flow<Known>

/** The variables of a template that is named by its ID are not checked. */
type ById = Omit<SendTemplate, 'id' | 'name' | 'language'> & { id: string; name?: never; language?: never }

type Named = {
  [Name in keyof KnownTemplates]: {
    [Language in keyof KnownTemplates[Name]]: ByName<Name, Language, KnownTemplates[Name][Language]>
  }[keyof KnownTemplates[Name]]
}[keyof KnownTemplates]

/** The property `template` of a message. */
export type TemplateContent = [keyof KnownTemplates] extends [never] ? SendTemplate : Named | ById
