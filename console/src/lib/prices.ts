/** `template.MARKETING` → Template, marketing */
export function priceWords(item: string): string {
  const [type = '', category] = item.split('.')
  const words = type.replaceAll('_', ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return category ? `${title}, ${category.toLowerCase()}` : title
}
