# frozen_string_literal: true

require "json"
require_relative "verify"

all = JSON.parse(File.read(File.join(__dir__, "..", "vectors.json"), encoding: "UTF-8"))
failures = all["service_signature"].filter_map do |each|
  begin
    Parley.verify(each["body_base64"].unpack1("m"), each["headers"]["service-signature"], each["secrets"],
                  tolerance: all["tolerance_seconds"], now: all["now"])
    result = "valid"
  rescue Parley::InvalidDelivery => error
    result = error.reason.to_s
  end
  "#{each["name"]}: #{result} instead of #{each["result"]}" unless result == each["result"]
end

[nil, [], "", ["whsec_x", ""]].each do |none|
  Parley.verify("", "t=1", none)
  failures << "a missing secret was accepted"
rescue ArgumentError
  nil
end

begin
  Parley.verify("", "t=1,v1=\xff", "whsec_x")
rescue Parley::InvalidDelivery => error
  failures << "bytes that are not text: #{error.reason}" unless error.reason == :malformed_header
end

now = Time.now.to_i
# As a framework passes it: a string in UTF-8.
Parley.verify("{\"a\":\"ñ\"}", "t=#{now},v1=#{OpenSSL::HMAC.hexdigest("SHA256", "whsec_x", "#{now}.{\"a\":\"ñ\"}")}", "whsec_x")

failures << "vectors are missing" if all["service_signature"].length < 40
puts failures.empty? ? "#{all["service_signature"].length} vectors passed" : failures
exit failures.empty? ? 0 : 1
