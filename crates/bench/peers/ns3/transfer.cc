// One TCP transfer in ns-3: a sender, a router with a queue before a slow link, and a receiver.
//
//     transfer ALGORITHM BYTES SEGMENT RATE_BPS RTT_US WINDOW QUEUE LOSES LIMIT_S
//
// SEGMENT is the payload of a packet, WINDOW what the receiver allows at any time, QUEUE what waits before the link, all in
// bytes. Each packet of which the number is a multiple of LOSES is lost behind the link; none is where it is 0. After LIMIT_S
// seconds of processor time it is given up.
//
// The rules are the simplest that ns-3 has: nothing but the window and the algorithm limits the sender, and each segment is
// acknowledged by itself. `took_s` counts from the instant at which the connection stands, at the sender, to the
// acknowledgement of the last byte; it is negative where that did not come. `wall_s` is the time inside Simulator::Run.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>

using namespace ns3;
using Clock = std::chrono::steady_clock;

namespace
{

struct Settings
{
    std::string algorithm;
    uint64_t bytes;
    uint32_t segment;
    uint64_t rate;
    Time rtt;
    uint32_t window;
    uint32_t queue;
    uint64_t loses;
    double limit_s;
};

struct Seen
{
    uint64_t left = 0;
    uint64_t bytes = 0;
    uint64_t segments = 0;
    uint64_t again = 0;
    uint64_t lost = 0;
    uint32_t highest = 0;
    double began = -1;
    double took = -1;
    Clock::time_point start;
};

Seen seen;

double RealSeconds()
{
    return std::chrono::duration<double>(Clock::now() - seen.start).count();
}

// Loses every so many packets.
class EveryNth : public ErrorModel
{
  public:
    uint64_t every = 0;

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        const bool now = ++m_packets % every == 0;
        seen.lost += now;
        return now;
    }

    void DoReset() override
    {
        m_packets = 0;
    }

    uint64_t m_packets = 0;
};

// Writes while there is room.
void Write(Ptr<Socket> socket, uint32_t)
{
    while (seen.left > 0)
    {
        const uint64_t room = socket->GetTxAvailable();
        const auto size = static_cast<uint32_t>(std::min<uint64_t>({seen.left, room, 131072}));
        if (size == 0 || socket->Send(Create<Packet>(size)) <= 0)
        {
            return;
        }
        seen.left -= size;
    }
}

void Connected(Ptr<Socket> socket)
{
    seen.began = Simulator::Now().GetSeconds();
    Write(socket, 0);
}

// Sequence numbers begin at 0 here, and the first byte has number 1.
void Acknowledged(SequenceNumber32, SequenceNumber32 to)
{
    if (seen.took < 0 && to.GetValue() > seen.bytes)
    {
        seen.took = Simulator::Now().GetSeconds() - seen.began;
        Simulator::Stop();
    }
}

void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    const uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
    if (packet->GetSize() > 0)
    {
        ++seen.segments;
        seen.again += end <= seen.highest;
        seen.highest = std::max(seen.highest, end);
    }
}

void Watch(double limit_s)
{
    if (static_cast<double>(std::clock()) / CLOCKS_PER_SEC > limit_s)
    {
        Simulator::Stop();
    }
    Simulator::Schedule(MilliSeconds(5), &Watch, limit_s);
}

void Defaults(const Settings& settings)
{
    const std::map<std::string, std::string> types = {{"reno", "ns3::TcpLinuxReno"},
                                                      {"cubic", "ns3::TcpCubic"},
                                                      {"htcp", "ns3::TcpHtcp"},
                                                      {"bbr", "ns3::TcpBbr"}};
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(types.at(settings.algorithm)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(settings.segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(settings.window));
    // Twice the window never limits; ns-3 looks through all that waits for each packet, so it is no more than that.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * settings.window));
    // 4 Gbit/s unless something is said, which BBR would keep to.
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate(400'000'000'000)));
}

// The path. Returns the nodes of sender and receiver, and the address of the receiver.
std::pair<NodeContainer, Ipv4Address> Build(const Settings& settings)
{
    NodeContainer nodes;
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper links;
    links.SetDeviceAttribute("Mtu", UintegerValue(settings.segment + 52));
    links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    links.SetDeviceAttribute("DataRate", DataRateValue(DataRate(100'000'000'000)));
    links.SetChannelAttribute("Delay", TimeValue(NanoSeconds(1)));
    NetDeviceContainer near = links.Install(nodes.Get(0), nodes.Get(1));
    links.SetDeviceAttribute("DataRate", DataRateValue(DataRate(settings.rate)));
    links.SetChannelAttribute("Delay", TimeValue(settings.rtt / 2));
    links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(std::to_string(settings.queue) + "B"));
    NetDeviceContainer far = links.Install(nodes.Get(1), nodes.Get(2));
    if (settings.loses > 0)
    {
        Ptr<EveryNth> loss = CreateObject<EveryNth>();
        loss->every = settings.loses;
        far.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    }
    Ipv4AddressHelper addresses("198.18.0.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.NewNetwork();
    const Ipv4InterfaceContainer interfaces = addresses.Assign(far);
    // The devices have the only queues.
    TrafficControlHelper control;
    control.Uninstall(near);
    control.Uninstall(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return {nodes, interfaces.GetAddress(1)};
}

} // namespace

int main(int count, char** words)
{
    if (count != 10)
    {
        std::fprintf(stderr, "transfer ALGORITHM BYTES SEGMENT RATE_BPS RTT_US WINDOW QUEUE LOSES LIMIT_S\n");
        return 2;
    }
    auto number = [&](int index) { return std::stoull(words[index]); };
    const Settings settings{words[1], number(2), static_cast<uint32_t>(number(3)), number(4), MicroSeconds(number(5)),
                            static_cast<uint32_t>(number(6)), static_cast<uint32_t>(number(7)), number(8),
                            static_cast<double>(number(9))};
    Defaults(settings);
    const auto [nodes, address] = Build(settings);
    const InetSocketAddress there(address, 5201);
    PacketSinkHelper("ns3::TcpSocketFactory", there).Install(nodes.Get(2)).Start(Seconds(0));
    Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
    seen.left = seen.bytes = settings.bytes;
    socket->SetConnectCallback(MakeCallback(&Connected), MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(MakeCallback(&Write));
    socket->TraceConnectWithoutContext("HighestRxAck", MakeCallback(&Acknowledged));
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
    Simulator::Schedule(MilliSeconds(1), [socket, there] { socket->Connect(there); });
    Simulator::Schedule(MilliSeconds(1), &Watch, settings.limit_s);
    seen.start = Clock::now();
    Simulator::Run();
    std::printf("{\"took_s\": %.6f, \"wall_s\": %.6f, \"segments\": %lu, \"again\": %lu, \"lost\": %lu, \"events\": %lu}\n",
                seen.took, RealSeconds(), seen.segments, seen.again, seen.lost, Simulator::GetEventCount());
    // What the simulator holds goes with the process.
    return 0;
}
